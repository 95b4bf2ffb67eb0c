# Third-party libraries: find_package only, Debian 12 packages (tools/packages.txt names them all).
# One line each, with the reason it earns its place.

find_package(tl-expected REQUIRED)                # Result<T>; GCC 12 has std::expected only under -std=c++23
find_package(fmt 9 REQUIRED)                      # text formatting; GCC 12 has no std::format
find_package(yaml-cpp REQUIRED)                   # YAML parsing; only src/doc/yaml.cpp includes it
find_package(nlohmann_json 3.11 REQUIRED)         # JSON tokens (SAX); only src/doc/json.cpp includes it
find_path(TRAINYARD_TOML toml++/toml.h REQUIRED)  # TOML 1.0 with places (toml++ 3.3, headers only); only src/doc/toml.cpp includes it
find_package(CLI11 REQUIRED)                      # command line; only src/cli/parse.cpp includes it
# Charts of the HTML report (Chart.js 3.9, MIT licence); its text goes into the binary and from there into the page.
find_file(TRAINYARD_CHART_JS chart.min.js PATHS /usr/share/javascript/chart.js REQUIRED)
find_package(CURL 7.88 REQUIRED)                  # HTTP with keep-alive, proxies, TLS; only src/sys/http.cpp includes it
find_package(OpenSSL 3.0 REQUIRED COMPONENTS Crypto)  # HMAC-SHA256 of signatures, SHA-256 of a plan; only src/aws/digest.cpp, src/render/directory.cpp
find_package(pugixml 1.12 REQUIRED)               # XML answers of S3 and STS; only src/aws/s3_xml.cpp includes it
find_package(SQLite3 3.40 REQUIRED)                 # the supervisor's state, which survives kill -9; only src/agent/journal.cpp includes it
find_package(Threads REQUIRED)                    # the plan search uses every core
if(TRAINYARD_UNIT_TESTS)
  find_package(GTest 1.12 REQUIRED)               # unit tests
endif()
find_package(benchmark QUIET)                     # bench/; absent: no benchmarks are built
# Golden and tidy runners (standard library only). Debian's interpreter first: another may come first on PATH.
find_program(TRAINYARD_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(TRAINYARD_PYTHON python3)
