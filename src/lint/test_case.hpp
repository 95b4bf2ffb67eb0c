#pragma once
// A case of one file, for tests.

#include <gtest/gtest.h>

#include "model.hpp"

namespace trainyard::lint {

/// `source` must outlive the case.
inline Case case_of(const SourceText& source) {
    Documents documents;
    std::vector<Diagnostic> diagnostics;
    read_source(source, documents, diagnostics);
    EXPECT_TRUE(diagnostics.empty());
    return build_case(std::move(documents));
}

}  // namespace trainyard::lint
