#include <gtest/gtest.h>

#include <cstdlib>

#include "trainyard/sys/environment.hpp"

namespace trainyard::sys {
namespace {

/// Sets a variable for one test and puts the old value back.
class Variable {
  public:
    Variable(const char* name, const char* value) : name_(name), old_(get_env(name)) {
        setenv(name, value, 1);
    }
    ~Variable() {
        if (old_) {
            setenv(name_, old_->c_str(), 1);
        } else {
            unsetenv(name_);
        }
    }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

  private:
    const char* name_;
    std::optional<std::string> old_;
};

TEST(Today, IsFixedByTheVariable) {
    const Variable fixed("TRAINYARD_TODAY", "2026-12-01");
    EXPECT_EQ(today().value(), "2026-12-01");
    EXPECT_EQ(time_of_day(), Seconds{});
}

TEST(Today, RefusesWhatIsNoDate) {
    for (const char* value :
         {"2026-02-30", "2026-13-01", "tomorrow", "", "2026-1-1", "20261201xx"}) {
        const Variable fixed("TRAINYARD_TODAY", value);
        const Result<std::string> result = today();
        ASSERT_FALSE(result.has_value()) << value;
        EXPECT_EQ(result.error().kind, ErrorKind::bad_input);
    }
}

TEST(Today, IsADateOtherwise) {
    const Variable fixed("TRAINYARD_TODAY", "x");
    unsetenv("TRAINYARD_TODAY");
    EXPECT_GE(time_of_day(), Seconds{});
    EXPECT_LT(time_of_day(), kDay);
    const std::string date = today().value();
    EXPECT_EQ(date.size(), 10U);
    EXPECT_GE(date, "2025-01-01");
    EXPECT_EQ(date[4], '-');
}

TEST(TerminalWidth, FollowsColumns) {
    const Variable columns("COLUMNS", "123");
    EXPECT_EQ(terminal_width(Stream::out), 123);
}

TEST(TerminalWidth, IgnoresNonsense) {
    const Variable columns("COLUMNS", "-5");
    EXPECT_GT(terminal_width(Stream::out), 0);
}

TEST(GetEnv, TellsUnsetFromEmpty) {
    const Variable empty("TRAINYARD_TEST_VARIABLE", "");
    EXPECT_EQ(get_env("TRAINYARD_TEST_VARIABLE"), "");
    EXPECT_EQ(get_env("TRAINYARD_TEST_VARIABLE_UNSET"), std::nullopt);
}

}  // namespace
}  // namespace trainyard::sys
