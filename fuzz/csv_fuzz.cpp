// CSV in: no input may crash, hang or exhaust memory; every accepted cell can be read.

#include "fuzz_text.hpp"
#include "trainyard/doc/csv.hpp"

// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace trainyard;
    const Result<doc::CsvTable> table = doc::parse_csv(fuzz::as_text(data, size), "input.csv");
    if (!table) {
        fuzz::expect_explained(table.error());
        return 0;
    }
    for (std::size_t row = 0; row < table->size(); ++row) {
        TRAINYARD_ASSERT(table->line(row) > 0, "every row knows its line");
        for (const std::string& column : table->header()) {
            TRAINYARD_ASSERT(table->cell(row, column).size() <= size, "a cell is part of the text");
        }
    }
    return 0;
}
