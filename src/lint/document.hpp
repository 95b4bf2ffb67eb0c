#pragma once
// One text of a case: a YAML document, a JSON value, a script.

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "kind.hpp"
#include "script.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/lint/check.hpp"

namespace trainyard::lint {

struct Document {
    const SourceText* source = nullptr;
    Kind kind = Kind::unknown;
    int line = 1;             ///< where it begins in the file
    std::string_view text{};  ///< its part of the source
    /// The comment at its head that names it: "gpu-operator values" of "# --- gpu-operator values".
    std::string title{};
    doc::Node root{};           ///< trees and Python
    Script script{};            ///< shell, sbatch, Dockerfile
    std::string object_kind{};  ///< Kubernetes and eksctl: "PyTorchJob"
    std::string api{};          ///< "kubeflow.org/v1"

    Location head() const { return {source->path, line, 1}; }
};

/// A deque: documents keep their addresses.
using Documents = std::deque<Document>;

/// Splits and reads one source. Diagnostics are for texts that are broken or need rendering first.
void read_source(const SourceText& source, Documents& into, std::vector<Diagnostic>& diagnostics);

/// The kind of a tree by its keys; fills object_kind and api.
void recognise_tree(Document& document);

}  // namespace trainyard::lint
