#pragma once
// A pickle read as data. Opcodes become inert nodes; no class is looked up, nothing is called,
// whatever the pickle asks for. Protocols 0 to 5 as far as PyTorch, DeepSpeed and Megatron-LM use
// them (Python's Lib/pickletools.py is the reference). Time and memory are linear in the text.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainyard/base/result.hpp"

namespace trainyard::store {

class Pickle {
  public:
    enum class Kind : std::uint8_t {
        none,
        boolean,
        integer,
        number,
        text,    ///< str or bytes
        list,    ///< items
        tuple,   ///< items
        set,     ///< items
        dict,    ///< key, value, key, value, …
        global,  ///< "module name", never resolved
        object,  ///< what a call would make: callable, arguments, state, then items it was given
        persistent,
    };
    using Id = std::uint32_t;

    /// `text` up to the first STOP; bytes behind it are ignored. ErrorKind::bad_input with the
    /// place as "byte N".
    static Result<Pickle> parse(std::string text, std::string_view file);

    Id root() const { return root_; }
    Kind kind(Id id) const { return nodes_[id].kind; }
    std::int64_t integer(Id id) const { return nodes_[id].number; }  ///< integer, boolean
    std::string_view text(Id id) const;                              ///< text and global
    /// Of containers and objects; empty for scalars.
    const std::vector<Id>& items(Id id) const;

    /// "torch.distributed.checkpoint.metadata Metadata" of an object made by that class.
    std::string_view class_of(Id object) const;
    /// The value behind a text key: of a dict, of an object's state, or of the items of an object
    /// that is a mapping (OrderedDict).
    std::optional<Id> find(Id id, std::string_view key) const;
    /// find(), if it is a whole number.
    std::optional<std::int64_t> find_integer(Id id, std::string_view key) const;

  private:
    friend class PickleReader;
    struct Node {
        Kind kind = Kind::none;
        std::uint32_t children = 0;  ///< index into children_, 0: none
        std::int64_t number = 0;     ///< or the offset of the text
        std::uint64_t length = 0;    ///< of the text
    };
    std::string text_;
    std::vector<Node> nodes_;
    std::vector<std::vector<Id>> children_;
    std::vector<std::string> made_;  ///< names of STACK_GLOBAL, which stand nowhere in the text
    Id root_ = 0;
};

}  // namespace trainyard::store
