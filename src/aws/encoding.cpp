#include "encoding.hpp"

#include <cstdint>

namespace trainyard::aws {
namespace {

constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int base64_value(char c) {
    const std::size_t at = kBase64.find(c);
    return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

bool is_unreserved(char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.' || c == '~';
}

}  // namespace

std::string hex(std::string_view bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string out;
    out.reserve(2 * bytes.size());
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        out += kDigits[byte >> 4U];
        out += kDigits[byte & 15U];
    }
    return out;
}

std::string base64(std::string_view bytes) {
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t group = 0;
        for (std::size_t j = 0; j < 3; ++j) {
            const unsigned char byte =
                i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0;
            group = (group << 8U) | byte;
        }
        out += kBase64[group >> 18U];
        out += kBase64[(group >> 12U) & 63U];
        out += i + 1 < bytes.size() ? kBase64[(group >> 6U) & 63U] : '=';
        out += i + 2 < bytes.size() ? kBase64[group & 63U] : '=';
    }
    return out;
}

std::optional<std::string> parse_base64(std::string_view text) {
    if (text.size() % 4 != 0) return std::nullopt;
    std::size_t padding = 0;
    while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') {
        ++padding;
    }
    std::string out;
    std::uint32_t group = 0;
    const std::size_t digits = text.size() - padding;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const int value = i < digits ? base64_value(text[i]) : 0;
        if (value < 0) return std::nullopt;
        group = (group << 6U) | static_cast<std::uint32_t>(value);
        if (i % 4 == 3) {
            out += static_cast<char>((group >> 16U) & 255U);
            out += static_cast<char>((group >> 8U) & 255U);
            out += static_cast<char>(group & 255U);
            group = 0;
        }
    }
    out.resize(out.size() - padding);
    return out;
}

std::string uri_encode(std::string_view bytes, Slash slash) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    std::string out;
    out.reserve(bytes.size());
    for (const char c : bytes) {
        if (is_unreserved(c) || (c == '/' && slash == Slash::keep)) {
            out += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        out += '%';
        out += kDigits[byte >> 4U];
        out += kDigits[byte & 15U];
    }
    return out;
}

std::optional<std::string> uri_decode(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            out += text[i];
            continue;
        }
        if (i + 2 >= text.size()) return std::nullopt;
        const int high = hex_value(text[i + 1]);
        const int low = hex_value(text[i + 2]);
        if (high < 0 || low < 0) return std::nullopt;
        out += static_cast<char>(high * 16 + low);
        i += 2;
    }
    return out;
}

}  // namespace trainyard::aws
