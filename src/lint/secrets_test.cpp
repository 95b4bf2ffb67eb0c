// Credentials told from placeholders.

#include "secrets.hpp"

#include <gtest/gtest.h>

#include <array>

#include "test_case.hpp"

namespace trainyard::lint {
namespace {

TEST(Secrets, AreToldByTheirFormAndShownInPart) {
    // Put together here, so that no scanner takes this file for a leak.
    const std::string key = std::string("AKIA") + "Q3EGUZ7WBH2MKP4L";
    const SourceText source{"a.sh", "#!/bin/bash\necho\nexport K=" + key + "\n", true};
    const Case c = case_of(source);
    const auto found = secrets_in(c.documents.front());
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found.front().where.line, 3);
    EXPECT_EQ(found.front().where.column, 10);
    EXPECT_EQ(found.front().kind, "an AWS access key id");
    EXPECT_EQ(found.front().shown.find(key.substr(4)), std::string::npos);
}

TEST(Secrets, PlaceholdersAndPartsOfWordsAreNone) {
    const std::array<std::string, 5> harmless = {
        std::string("AKIA") + "IOSFODNN7EXAMPLE", std::string("AKIA") + "XXXXXXXXXXXXXXXX",
        std::string("AKIA") + "TOOSHORT", std::string("XAKIA") + "Q3EGUZ7WBH2MKP4L",
        std::string("hf_") + "your_token_your_token_your_token"};
    for (const std::string& text : harmless) {
        const SourceText source{"a.sh", "#!/bin/bash\nexport K=" + text + "\n", true};
        const Case c = case_of(source);
        EXPECT_TRUE(secrets_in(c.documents.front()).empty()) << text;
    }
}

TEST(Secrets, ALongWordBehindAKnownNameIsOne) {
    const std::string value = "9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c";  // 40 characters
    const SourceText source{"a.sh", "#!/bin/bash\nexport WANDB_API_KEY=" + value + "\n", true};
    const Case c = case_of(source);
    const auto found = secrets_in(c.documents.front());
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found.front().kind, "a W&B API key");
}

}  // namespace
}  // namespace trainyard::lint
