#include "trainyard/store/pickle.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstring>

namespace trainyard::store {

namespace {

using Kind = Pickle::Kind;

/// Where objects keep what a pickle gives them.
constexpr std::size_t kCallable = 0;
constexpr std::size_t kState = 2;
constexpr std::size_t kFirstItem = 3;

template <typename T>
T little_endian(const char* at) {
    T value = 0;
    std::memcpy(&value, at, sizeof value);  // x86-64 and aarch64 are little-endian
    return value;
}

}  // namespace

/// One pass over the opcodes. fail() records the first mistake and ends the pass.
class PickleReader {
  public:
    PickleReader(Pickle& pickle, std::string_view file) : p_(pickle), file_(file) {}

    std::optional<Error> read() {
        p_.nodes_.reserve(p_.text_.size() / 8 + 16);
        p_.nodes_.push_back({});      // id 0: None
        p_.children_.emplace_back();  // index 0: no children
        while (!stopped_ && why_.empty()) {
            begin_ = at_;
            if (at_ >= size()) {
                fail("it ends before its STOP");
            } else {
                step(p_.text_[at_++]);
            }
        }
        if (why_.empty()) return std::nullopt;
        return bad_input(Diagnostic{.where = {std::string(file_), 0, 0},
                                    .what = fmt::format("not a pickle that can be read: {} (byte "
                                                        "{})",
                                                        why_, begin_),
                                    .why = {},
                                    .fix = {}});
    }

  private:
    using Id = Pickle::Id;

    std::size_t size() const { return p_.text_.size(); }
    void fail(std::string why) {
        if (why_.empty()) why_ = std::move(why);
    }
    /// Moves over n bytes and returns where they begin; nullptr if there are not that many.
    const char* take(std::uint64_t n) {
        if (n > size() - at_) {
            fail("an argument runs past the end");
            return nullptr;
        }
        const char* here = p_.text_.data() + at_;
        at_ += n;
        return here;
    }
    template <typename T>
    std::uint64_t number() {
        const char* here = take(sizeof(T));
        return here != nullptr ? little_endian<T>(here) : 0;
    }
    std::string_view line() {
        const std::size_t end = p_.text_.find('\n', at_);
        if (end == std::string::npos) {
            fail("a line has no end");
            return {};
        }
        const std::string_view text = std::string_view(p_.text_).substr(at_, end - at_);
        at_ = end + 1;
        return text;
    }

    Id make(Kind kind, std::int64_t value = 0, std::uint64_t length = 0) {
        p_.nodes_.push_back({kind, 0, value, length});
        return static_cast<Id>(p_.nodes_.size() - 1);
    }
    Id make_with(Kind kind, std::vector<Id> items) {
        const Id id = make(kind);
        p_.nodes_[id].children = static_cast<std::uint32_t>(p_.children_.size());
        p_.children_.push_back(std::move(items));
        return id;
    }
    std::vector<Id>& children(Id id) { return p_.children_[p_.nodes_[id].children]; }
    void push(Id id) { stack_.push_back(id); }
    void push_text(std::uint64_t length) {
        const std::size_t here = at_;
        if (take(length) != nullptr)
            push(make(Kind::text, static_cast<std::int64_t>(here), length));
    }
    void push_made(Kind kind, std::string text) {
        const Id id = make(kind, -static_cast<std::int64_t>(p_.made_.size()) - 1);
        p_.made_.push_back(std::move(text));
        push(id);
    }
    Id pop() {
        if (stack_.size() <= floor()) {
            fail("the stack is empty");
            return 0;
        }
        const Id id = stack_.back();
        stack_.pop_back();
        return id;
    }
    /// What a MARK protects.
    std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
    std::vector<Id> pop_to_mark() {
        if (marks_.empty()) {
            fail("a MARK is missing");
            return {};
        }
        const auto from = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
        std::vector<Id> items(from, stack_.end());
        stack_.erase(from, stack_.end());
        marks_.pop_back();
        return items;
    }
    /// The container on the stack that APPENDS, SETITEMS and the like fill.
    void fill(const std::vector<Id>& items, Kind plain) {
        if (stack_.size() <= floor()) return fail("the stack is empty");
        const Id top = stack_.back();
        const Kind kind = p_.nodes_[top].kind;
        if (kind != plain && kind != Kind::object) return fail("items for what holds none");
        std::vector<Id>& into = children(top);
        into.insert(into.end(), items.begin(), items.end());
    }
    void remember(std::uint64_t index) {
        // A writer numbers its memo from 0 up, one opcode each.
        if (index > size()) return fail("a memo index is too large");
        if (stack_.size() <= floor()) return fail("the stack is empty");
        if (memo_.size() <= index) memo_.resize(index + 1, kNothing);
        memo_[index] = stack_.back();
    }
    void recall(std::uint64_t index) {
        if (index >= memo_.size() || memo_[index] == kNothing) {
            return fail("a memo entry was never written");
        }
        push(memo_[index]);
    }
    void call(Id callable, Id arguments) {
        push(make_with(Kind::object, {callable, arguments, Id{0}}));
    }
    void call_last(bool has_keywords) {
        if (has_keywords) pop();
        const Id arguments = pop();
        const Id callable = pop();
        call(callable, arguments);
    }
    void build() {
        const Id state = pop();
        if (stack_.size() <= floor()) return fail("the stack is empty");
        const Id top = stack_.back();
        if (p_.nodes_[top].kind != Kind::object) return;  // state for a plain value changes nothing
        children(top)[kState] = state;
    }
    void tuple(std::size_t n) {
        std::vector<Id> items(n);
        for (std::size_t i = n; i > 0; --i) items[i - 1] = pop();
        push(make_with(Kind::tuple, std::move(items)));
    }
    void long_integer(std::uint64_t bytes) {
        const char* here = take(bytes);
        if (here == nullptr) return;
        std::int64_t value = 0;
        if (bytes > 0 && bytes <= sizeof value) {
            std::uint64_t raw = here[bytes - 1] < 0 ? ~std::uint64_t{0} : 0;
            std::memcpy(&raw, here, bytes);
            std::memcpy(&value, &raw, sizeof value);
        }
        // Larger ones (random states) matter to nobody here: they become 0.
        push(make(Kind::integer, value));
    }
    void decimal(std::string_view text) {
        if (text.ends_with('L')) text.remove_suffix(1);
        std::int64_t value = 0;
        std::from_chars(text.data(), text.data() + text.size(), value);
        push(make(Kind::integer, value));
    }

    void step(char code);
    bool scalar(char code);
    bool text(char code);
    bool container(char code);
    bool object(char code);
    bool memo(char code);

    static constexpr Id kNothing = ~Id{0};
    Pickle& p_;
    std::string_view file_;
    std::string why_;
    std::size_t at_ = 0;
    std::size_t begin_ = 0;  ///< of the opcode at work
    bool stopped_ = false;
    std::vector<Id> stack_;
    std::vector<std::size_t> marks_;
    std::vector<Id> memo_;
};

void PickleReader::step(char code) {
    if (scalar(code) || text(code) || container(code) || object(code) || memo(code)) return;
    fail(fmt::format("opcode 0x{:02x} is not known", static_cast<unsigned char>(code)));
}

bool PickleReader::scalar(char code) {
    switch (code) {
        case 'N':
            push(0);
            return true;
        case '\x88':
        case '\x89':
            push(make(Kind::boolean, code == '\x88' ? 1 : 0));
            return true;
        case 'K':
            push(make(Kind::integer, static_cast<std::int64_t>(number<std::uint8_t>())));
            return true;
        case 'M':
            push(make(Kind::integer, static_cast<std::int64_t>(number<std::uint16_t>())));
            return true;
        case 'J':
            push(make(Kind::integer, static_cast<std::int32_t>(number<std::uint32_t>())));
            return true;
        case '\x8a':
            long_integer(number<std::uint8_t>());
            return true;
        case '\x8b':
            long_integer(number<std::uint32_t>());
            return true;
        case 'I':
        case 'L':
            decimal(line());
            return true;
        case 'G':
            take(8);
            push(make(Kind::number));
            return true;
        case 'F':
            line();
            push(make(Kind::number));
            return true;
        default:
            return false;
    }
}

bool PickleReader::text(char code) {
    switch (code) {
        case '\x8c':  // SHORT_BINUNICODE
        case 'U':     // SHORT_BINSTRING
        case 'C':     // SHORT_BINBYTES
            push_text(number<std::uint8_t>());
            return true;
        case 'X':
        case 'T':
        case 'B':
            push_text(number<std::uint32_t>());
            return true;
        case '\x8d':
        case '\x8e':
        case '\x96':
            push_text(number<std::uint64_t>());
            return true;
        case 'S':
        case 'V': {
            const std::string_view whole = line();
            push_made(Kind::text, std::string(whole));
            return true;
        }
        default:
            return false;
    }
}

bool PickleReader::container(char code) {
    switch (code) {
        case '(':
            marks_.push_back(stack_.size());
            return true;
        case ')':
            tuple(0);
            return true;
        case '\x85':
        case '\x86':
        case '\x87':
            tuple(static_cast<std::size_t>(code - '\x84'));
            return true;
        case 't':
            push(make_with(Kind::tuple, pop_to_mark()));
            return true;
        case ']':
            push(make_with(Kind::list, {}));
            return true;
        case 'l':
            push(make_with(Kind::list, pop_to_mark()));
            return true;
        case '}':
            push(make_with(Kind::dict, {}));
            return true;
        case 'd':
            push(make_with(Kind::dict, pop_to_mark()));
            return true;
        case '\x8f':
            push(make_with(Kind::set, {}));
            return true;
        case '\x91':  // FROZENSET
            push(make_with(Kind::set, pop_to_mark()));
            return true;
        case 'a':
            fill({pop()}, Kind::list);
            return true;
        case 'e':
            fill(pop_to_mark(), Kind::list);
            return true;
        case '\x90':
            fill(pop_to_mark(), Kind::set);
            return true;
        case 's': {
            const Id value = pop();
            const Id key = pop();
            fill({key, value}, Kind::dict);
            return true;
        }
        case 'u': {
            const std::vector<Id> items = pop_to_mark();
            if (items.size() % 2 != 0) fail("a key without a value");
            fill(items, Kind::dict);
            return true;
        }
        default:
            return false;
    }
}

bool PickleReader::object(char code) {
    switch (code) {
        case 'c': {
            const std::string module(line());
            push_made(Kind::global, module + " " + std::string(line()));
            return true;
        }
        case '\x93': {
            const Id name = pop();
            const Id module = pop();
            push_made(Kind::global,
                      std::string(p_.text(module)) + " " + std::string(p_.text(name)));
            return true;
        }
        case 'i': {
            const std::string module(line());
            push_made(Kind::global, module + " " + std::string(line()));
            const Id callable = pop();
            call(callable, make_with(Kind::tuple, pop_to_mark()));
            return true;
        }
        case 'o': {
            std::vector<Id> items = pop_to_mark();
            if (items.empty()) {
                fail("an object without a class");
                return true;
            }
            const Id callable = items.front();
            items.erase(items.begin());
            call(callable, make_with(Kind::tuple, std::move(items)));
            return true;
        }
        case 'R':
        case '\x81':
            call_last(false);
            return true;
        case '\x92':
            call_last(true);
            return true;
        case 'b':
            build();
            return true;
        case 'P':
            push_made(Kind::persistent, std::string(line()));
            return true;
        case 'Q':
            push(make_with(Kind::persistent, {pop()}));
            return true;
        default:
            return false;
    }
}

bool PickleReader::memo(char code) {
    switch (code) {
        case '\x80':
            if (number<std::uint8_t>() > 5) fail("its protocol is newer than 5");
            return true;
        case '\x95':  // FRAME: a hint for readers of streams
            take(8);
            return true;
        case '\x94':
            remember(memo_.size());
            return true;
        case 'q':
            remember(number<std::uint8_t>());
            return true;
        case 'r':
            remember(number<std::uint32_t>());
            return true;
        case 'p': {
            decimal(line());
            const Id index = pop();
            remember(static_cast<std::uint64_t>(p_.integer(index)));
            return true;
        }
        case 'h':
            recall(number<std::uint8_t>());
            return true;
        case 'j':
            recall(number<std::uint32_t>());
            return true;
        case 'g': {
            decimal(line());
            const Id index = pop();
            recall(static_cast<std::uint64_t>(p_.integer(index)));
            return true;
        }
        case '0':
            pop();
            return true;
        case '1':
            pop_to_mark();
            return true;
        case '2': {
            const Id top = pop();
            push(top);
            push(top);
            return true;
        }
        case '.':
            p_.root_ = pop();
            stopped_ = true;
            return true;
        default:
            return false;
    }
}

Result<Pickle> Pickle::parse(std::string text, std::string_view file) {
    Pickle pickle;
    pickle.text_ = std::move(text);
    // Ids and children are 32 bits wide; no metadata comes near.
    constexpr std::size_t kLargest = std::size_t{1} << 30U;
    if (pickle.text_.size() > kLargest) {
        return bad_input(Diagnostic{.where = {std::string(file), 0, 0},
                                    .what = "a pickle of more than 1 GiB is not read",
                                    .why = {},
                                    .fix = {}});
    }
    if (auto error = PickleReader(pickle, file).read()) return *error;
    return pickle;
}

std::string_view Pickle::text(Id id) const {
    const Node& node = nodes_[id];
    if (node.kind != Kind::text && node.kind != Kind::global) return {};
    if (node.number < 0) return made_[static_cast<std::size_t>(-node.number - 1)];
    return std::string_view(text_).substr(static_cast<std::size_t>(node.number), node.length);
}

const std::vector<Pickle::Id>& Pickle::items(Id id) const { return children_[nodes_[id].children]; }

std::string_view Pickle::class_of(Id object) const {
    return kind(object) == Kind::object ? text(items(object)[kCallable]) : std::string_view();
}

std::optional<Pickle::Id> Pickle::find(Id id, std::string_view key) const {
    const std::vector<Id>& all = items(id);
    std::size_t from = 0;
    if (kind(id) == Kind::object) {
        const Id state = all[kState];
        if (kind(state) == Kind::dict) {
            if (const auto found = find(state, key)) return found;
        }
        from = kFirstItem;
    } else if (kind(id) != Kind::dict) {
        return std::nullopt;
    }
    for (std::size_t i = from; i + 1 < all.size(); i += 2) {
        if (kind(all[i]) == Kind::text && text(all[i]) == key) return all[i + 1];
    }
    return std::nullopt;
}

std::optional<std::int64_t> Pickle::find_integer(Id id, std::string_view key) const {
    const auto found = find(id, key);
    if (!found || kind(*found) != Kind::integer) return std::nullopt;
    return integer(*found);
}

}  // namespace trainyard::store
