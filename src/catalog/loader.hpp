#pragma once
// Tables in, Catalog out. One function per table; order matters, because instances name
// accelerators and prices name both.

#include <string>
#include <string_view>
#include <vector>

#include "table_row.hpp"
#include "trainyard/catalog/catalog.hpp"

namespace trainyard::catalog {

class Loader {
  public:
    /// `tables` holds every table (`own` completed with the embedded ones).
    Loader(const Tables& tables, const Tables& own, std::string_view today)
        : tables_(tables), own_(own), today_(today) {}
    Result<Catalog> load();

  private:
    void read_sources();
    bool read_accelerators();
    bool read_instances();
    void read_prices();
    void read_bands();
    void read_services();
    /// Resolves an accelerator id or alias to its id; a diagnostic if there is none.
    std::string accelerator_id(TableRow& row);
    /// A diagnostic if the instance does not exist.
    void check_instance(TableRow& row, std::string_view column);
    void add_accelerator_name(TableRow& row, const std::string& name, std::size_t index);

    /// False if no row could be read: what names this table would only repeat that.
    template <typename Each>
    bool read(std::string_view file, std::span<const std::string_view> required,
              std::span<const std::string_view> optional, Each each);

    const Tables& tables_;
    const Tables& own_;
    std::string_view today_;
    Sources sources_;
    std::vector<Diagnostic> problems_;
    Catalog catalog_;
};

}  // namespace trainyard::catalog
