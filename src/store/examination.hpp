#pragma once
// A checkpoint under examination: its files, the means to read them, and what speaks against it.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trainyard/doc/node.hpp"
#include "trainyard/store/pickle.hpp"
#include "trainyard/store/recognise.hpp"
#include "trainyard/store/tensor_files.hpp"

namespace trainyard::store {

class Examination {
  public:
    Examination(sys::Env& env, const RecogniseOptions& options, Recognition& found)
        : env_(env), options_(options), found_(found) {}

    const Tree& tree() const { return found_.tree; }
    const RecogniseOptions& options() const { return options_; }
    /// "why" speaks against `path`; at most 20 are kept.
    void against(std::string_view path, std::string_view why);
    /// Nothing says that no more will come.
    void no_end_mark() { has_end_mark_ = false; }
    void marked() { has_end_mark_ = true; }
    bool has_end_mark() const { return has_end_mark_; }
    bool is_flawed() const { return flaws_ > 0; }

    /// Calls `use` with the means to read a file of the tree; a file that vanished or cannot be
    /// opened is a flaw.
    void with_file(const TreeFile& file, const std::function<void(const ReadAt&)>& use);
    /// A small file of the tree. nullopt if it cannot be read.
    std::optional<std::string> text_of(const std::string& path, std::uint64_t max_bytes);
    /// One beside the tree: relative to the current directory, or absolute.
    std::optional<std::string> text_beside(const std::string& path, std::uint64_t max_bytes);
    /// "data.pkl" of a torch.save file.
    std::optional<Pickle> pickle_of(const TreeFile& file);
    /// Names directly in `directory` ("" for the root), with their files.
    std::map<std::string, const TreeFile*> files_in(std::string_view directory) const;

  private:
    sys::Env& env_;
    const RecogniseOptions& options_;
    Recognition& found_;
    int flaws_ = 0;
    bool has_end_mark_ = true;
};

/// The rules of one layout, for the files of one directory of the tree ("" for the root). Each adds
/// what speaks against the checkpoint and calls no_end_mark() if the layout has none.
void examine_dcp(Examination& e, const std::string& directory);
void examine_deepspeed(Examination& e, const std::string& directory);
void examine_megatron(Examination& e);
void examine_megatron_legacy(Examination& e);
void examine_hf_trainer(Examination& e);
/// Of every file, whatever the layout: temporary names, empty files, safetensors, torch.save, JSON.
void examine_files(Examination& e);

/// JSON that may hold Python's NaN and Infinity; nullopt if it is none.
std::optional<doc::Node> parse_python_json(std::string text);

/// 12 of "zero_pp_rank_12_mp_rank_00" after "zero_pp_rank_"; nullopt if there is no number there.
std::optional<int> number_after(std::string_view name, std::string_view prefix);

}  // namespace trainyard::store
