#pragma once
// Builds a Node tree from a stream of parse events (both parsers push theirs), and enforces the
// limits on depth, node count and duplicate keys before anything is allocated for the offending
// node.

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "trainyard/doc/node.hpp"

namespace trainyard::doc {

class TreeBuilder {
  public:
    /// Each returns false once the text is refused; failure() then says why.
    bool open(Node container);
    bool close();
    bool key(std::string name, const Location& where);
    bool value(Node node);
    /// Counts nodes and bytes that copying will make (YAML aliases), before they are made.
    bool charge(std::size_t nodes, std::size_t bytes, const Location& where);
    bool refuse(Diagnostic why);

    bool awaits_key() const;
    bool is_refused() const { return failure_.has_value(); }
    const Diagnostic& failure() const { return *failure_; }
    /// The finished root, null if there was no event.
    Node take_root() { return std::move(root_); }

    /// The list or map being read.
    const Node& innermost() const { return open_.back().node; }

  private:
    struct Open {
        Node node;
        std::optional<std::string> key;  ///< of the member being read
        int key_line = 0;
        int key_column = 0;
        std::unordered_set<std::string> members;  ///< keys so far
    };

    bool attach(Node node);
    bool refuse_nul(const Location& where);

    std::vector<Open> open_;
    Node root_;
    std::optional<Diagnostic> failure_;
    std::size_t nodes_ = 0;
    std::size_t bytes_ = 0;
};

}  // namespace trainyard::doc
