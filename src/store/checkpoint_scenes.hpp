#pragma once
// For tests: small checkpoints of each layout, byte for byte as their writers lay them out.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::store::scenes {

/// A pickle, protocol 2, built opcode by opcode.
class PickleWriter {
  public:
    PickleWriter& raw(std::string_view bytes);
    PickleWriter& text(std::string_view value);
    PickleWriter& integer(std::uint32_t value);
    PickleWriter& global(std::string_view module, std::string_view name);
    std::string finish() const { return "\x80\x02" + bytes_ + "."; }

  private:
    std::string bytes_;
};

/// A zip with stored records, as torch.save writes it.
std::string zip(const std::map<std::string, std::string>& records);
/// torch.save of something; `pickle` becomes archive/data.pkl.
std::string torch_file(std::string pickle, std::size_t tensor_bytes);
std::string safetensors(std::size_t tensor_bytes);
struct DcpItem {
    std::string path;
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
};
std::string dcp_metadata(const std::vector<DcpItem>& items);

struct Scene {
    std::string layout;                        ///< name(Layout)
    std::string directory;                     ///< "iter_0000100"
    std::map<std::string, std::string> files;  ///< relative to the directory above
    bool has_end_mark = true;                  ///< complete at once, without a quiet period
    bool needs_marker = false;                 ///< recognised with marker "done"
};
/// One of each layout and variant, step 100.
std::vector<Scene> all();

}  // namespace trainyard::store::scenes
