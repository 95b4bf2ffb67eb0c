#pragma once
// What a target writes: files with relative paths, sorted, byte for byte the same from run to run.

#include <string>
#include <vector>

namespace trainyard::render {

struct File {
    std::string path;  ///< relative, '/' between parts, no "..": the target's own text
    std::string content;
    bool executable = false;
};

class Directory {
  public:
    /// A path that is there already is a broken contract.
    void add(File file);
    const std::vector<File>& files() const { return files_; }  ///< sorted by path
    const File* find(const std::string& path) const;

  private:
    std::vector<File> files_;
};

/// SHA-256 in 64 lower-case hexadecimal digits.
std::string sha256(const std::string& bytes);

}  // namespace trainyard::render
