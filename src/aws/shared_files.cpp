#include "shared_files.hpp"

#include "trainyard/base/text.hpp"

namespace trainyard::aws {
namespace {

std::string path_of(const ChainSettings& settings, const char* variable, const char* name) {
    if (const auto given = settings.environment(variable); given && !given->empty()) return *given;
    return settings.environment("HOME").value_or("") + "/.aws/" + name;
}

std::map<std::string, Profile> read(const std::string& path) {
    const Result<std::string> text = sys::read_file(path, std::size_t{1} << 20U);
    return text ? parse_shared_file(*text) : std::map<std::string, Profile>();
}

}  // namespace

std::map<std::string, Profile> parse_shared_file(std::string_view text) {
    std::map<std::string, Profile> sections;
    Profile* section = nullptr;
    for (const std::string_view raw : split(text, '\n')) {
        const std::string_view line = trim(raw);
        if (line.empty() || line[0] == '#' || line[0] == ';') continue;
        if (line[0] == '[') {
            const std::size_t end = line.find(']');
            if (end == std::string_view::npos) continue;
            section = &sections[std::string(trim(line.substr(1, end - 1)))];
            continue;
        }
        const std::size_t equals = line.find('=');
        const bool is_indented = raw[0] == ' ' || raw[0] == '\t';
        if (section == nullptr || is_indented || equals == std::string_view::npos) continue;
        std::string_view value = trim(line.substr(equals + 1));
        value = trim(value.substr(0, value.find(" #")));
        (*section)[to_lower(trim(line.substr(0, equals)))] = std::string(value);
    }
    return sections;
}

std::string profile_name(const ChainSettings& settings) {
    if (!settings.profile.empty()) return settings.profile;
    for (const char* variable : {"AWS_PROFILE", "AWS_DEFAULT_PROFILE"}) {
        const auto given = settings.environment(variable);
        if (given && !given->empty()) return *given;
    }
    return "default";
}

Profile read_profile(const ChainSettings& settings) {
    const std::string name = profile_name(settings);
    Profile profile;
    std::map<std::string, Profile> config = read(path_of(settings, "AWS_CONFIG_FILE", "config"));
    if (name == "default") profile = config["default"];
    profile.merge(config["profile " + name]);
    Profile keys = read(path_of(settings, "AWS_SHARED_CREDENTIALS_FILE", "credentials"))[name];
    keys.merge(profile);  // keeps what is there
    return keys;
}

std::optional<std::string> configured_region(const ChainSettings& settings) {
    for (const char* variable : {"AWS_REGION", "AWS_DEFAULT_REGION"}) {
        const auto given = settings.environment(variable);
        if (given && !given->empty()) return given;
    }
    const Profile profile = read_profile(settings);
    const auto found = profile.find("region");
    return found == profile.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace trainyard::aws
