#include "launch.hpp"

#include <algorithm>
#include <cctype>
#include <tuple>

#include "facts.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::lint {

namespace {

constexpr int kMaxRounds = 4;  ///< of variables that name variables
constexpr std::size_t kMaxText = 4'096;

std::string_view base_name(std::string_view word) {
    const std::size_t slash = word.rfind('/');
    return slash == std::string_view::npos ? word : word.substr(slash + 1);
}

/// "torchrun" of a word, "" if it starts nothing.
std::string_view launcher_of(const std::vector<Said>& words, std::size_t i) {
    const std::string_view name = base_name(words[i].text);
    if (is_one_of(name, {"torchrun", "deepspeed", "mpirun", "mpiexec"})) return name;
    if (name == "accelerate" && i + 1 < words.size() && words[i + 1].is("launch")) return name;
    const bool is_module = name == "-m" && i + 1 < words.size();
    if (is_module && is_one_of(words[i + 1].text, {"torch.distributed.run", "torchrun"})) {
        return "torchrun";
    }
    if (is_module && words[i + 1].is("torch.distributed.launch")) return "python";
    return {};
}

std::string slurm_value(const Document& d, std::string_view name) {
    static constexpr std::pair<std::string_view, std::string_view> kNames[] = {
        {"SLURM_NNODES", "nodes"},
        {"SLURM_JOB_NUM_NODES", "nodes"},
        {"SLURM_NTASKS_PER_NODE", "ntasks-per-node"},
        {"SLURM_GPUS_PER_NODE", "gpus-per-node"},
        {"SLURM_GPUS_ON_NODE", "gpus-per-node"},
        {"SLURM_CPUS_PER_TASK", "cpus-per-task"}};
    for (const auto& [variable, option] : kNames) {
        if (variable != name) continue;
        const std::string value = env_value(d.script.directives, option).text;
        return value.substr(value.rfind(':') == std::string::npos ? 0 : value.rfind(':') + 1);
    }
    return {};
}

/// 8 of `: "${NAME:=8}"`, the way to give a default.
std::optional<std::string> fallback(const Document& d, std::string_view name) {
    const std::string start = "${" + std::string(name) + ":=";
    std::optional<std::string> found;
    for (const Command& c : d.script.commands) {
        if (c.words.size() != 2 || !c.words[0].is(":")) continue;
        const std::string& text = c.words[1].text;
        if (!text.starts_with(start) || !text.ends_with('}')) continue;
        std::string value = text.substr(start.size(), text.size() - start.size() - 1);
        if (found && *found != value) return std::nullopt;
        found = std::move(value);
    }
    return found;
}

/// The only value that a script ever gives a variable.
std::optional<std::string> literal(const Document& d, std::string_view name) {
    std::string slurm = slurm_value(d, name);
    if (!slurm.empty()) return slurm;
    std::optional<std::string> found;
    for (const auto* list : {&d.script.variables, &d.script.env}) {
        for (const EnvVar& v : *list) {
            if (v.name != name) continue;
            if (found && *found != v.value.text) return std::nullopt;
            found = v.value.text;
            const std::size_t dash = found->find(":-");
            if (found->starts_with("${") && found->ends_with('}') && dash != std::string::npos) {
                found = found->substr(dash + 2, found->size() - dash - 3);
            }
        }
    }
    return found ? found : fallback(d, name);
}

/// `N` of "8", "a100:8", "gpu:a100:8".
std::optional<std::int64_t> last_number(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    return whole_number(colon == std::string_view::npos ? text : text.substr(colon + 1));
}

std::optional<Count> directive(const Document& d, std::string_view name) {
    const EnvVar* v = find_env(d.script.directives, name);
    if (v == nullptr) return std::nullopt;
    const auto n = last_number(v->value.text);
    return n ? std::optional(Count{*n, v->value.where}) : std::nullopt;
}

const std::optional<Count>& first_of(const std::optional<Count>& a, const std::optional<Count>& b) {
    return a ? a : b;
}

void fill_slurm(Launch& l) {
    const Document& d = *l.document;
    if (d.kind != Kind::sbatch) return;
    l.allocated = directive(d, "nodes");
    l.gpus = directive(d, "gpus-per-node");
    if (const EnvVar* gres = find_env(d.script.directives, "gres");
        !l.gpus && gres != nullptr && contains(gres->value.text, "gpu")) {
        l.gpus = directive(d, "gres");
    }
    if (l.srun.empty()) return;
    l.tasks =
        first_of(option_count(d, l.srun, {"ntasks-per-node"}), directive(d, "ntasks-per-node"));
    const auto nodes = first_of(option_count(d, l.srun, {"nodes", "N"}), l.allocated);
    const auto all = first_of(option_count(d, l.srun, {"ntasks", "n"}), directive(d, "ntasks"));
    if (!l.tasks && all && nodes && nodes->value > 0 && all->value % nodes->value == 0) {
        l.tasks = Count{all->value / nodes->value, all->where};
    }
}

/// Whole words that are variables: their options stand elsewhere in the script, or nowhere.
void spell_out(Launch& l) {
    const Document& d = *l.document;
    bool has_defined = false;
    for (std::size_t i = 1; i < l.words.size() && !l.words[i].text.ends_with(".py"); ++i) {
        const std::string& text = l.words[i].text;
        if (!text.starts_with('$') || text.starts_with("$(")) continue;
        const bool is_value = l.words[i - 1].text.starts_with("--") &&
                              l.words[i - 1].text.find('=') == std::string::npos;
        if (is_value) continue;
        std::string_view name = std::string_view(text).substr(text.starts_with("${") ? 2 : 1);
        name = name.substr(0, name.find_first_of("[}:"));
        const bool is_known = d.text.find(std::string(name) + "=(") != std::string_view::npos ||
                              find_env(d.script.variables, name) != nullptr ||
                              find_env(d.script.env, name) != nullptr;
        has_defined = has_defined || is_known;
        l.is_open = l.is_open || !is_known;
    }
    if (!has_defined) return;
    const std::vector<Said> more = argument_words(d);
    l.words.insert(l.words.end(), more.begin(), more.end());
}

void fill(Launch& l) {
    const Document& d = *l.document;
    spell_out(l);
    l.nodes = option_count(d, l.words, {"nnodes", "num-machines", "num-nodes"});
    l.processes = option_count(d, l.words, {"nproc-per-node", "num-gpus"});
    if (!l.processes && l.launcher == "accelerate") {
        const auto all = option_count(d, l.words, {"num-processes"});
        const std::int64_t nodes = l.nodes ? l.nodes->value : 1;
        if (all && nodes > 0 && all->value % nodes == 0) {
            l.processes = Count{all->value / nodes, all->where};
        }
    }
    fill_slurm(l);
}

void add(const Job& job, const std::vector<Said>& words, const std::vector<Said>& srun,
         const Said& outer, std::vector<Launch>& into) {
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string_view launcher = launcher_of(words, i);
        if (launcher.empty()) continue;
        Launch l;
        l.document = job.document;
        l.job = &job;
        l.launcher = launcher;
        l.at = words[i];
        l.words.assign(words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
        l.is_inner = static_cast<bool>(outer);
        l.outer = outer;
        l.srun = srun;
        const bool has_srun = i > 0 && base_name(words[0].text) == "srun";
        if (has_srun) l.srun.assign(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(i));
        fill(l);
        into.push_back(std::move(l));
        return;
    }
}

/// srun bash -c 'text': the text is a script of its own.
void add_inner(const Job& job, const Command& c, std::vector<Launch>& into) {
    for (std::size_t i = 0; i + 1 < c.words.size(); ++i) {
        const std::string& flag = c.words[i].text;
        if (!is_one_of(flag, {"-c", "-lc", "-ec", "-xc"})) continue;
        const Said& text = c.words[i + 1];
        Location at = text.where;
        ++at.column;
        std::vector<Said> srun;
        if (base_name(c.words[0].text) == "srun") {
            srun.assign(c.words.begin(), c.words.begin() + static_cast<std::ptrdiff_t>(i));
        }
        for (const Command& inner : read_script(text.text, at).commands) {
            add(job, inner.words, srun, text, into);
        }
    }
}

}  // namespace

bool Launch::is_multi_node() const {
    if (nodes) return nodes->value > 1;
    if (allocated && !srun.empty()) return allocated->value > 1;
    return job != nullptr && job->is_multi_node();
}

std::int64_t Launch::node_count() const {
    return nodes ? nodes->value : allocated ? allocated->value : 1;
}

std::int64_t Launch::world_size(std::int64_t most_nodes) const {
    constexpr std::int64_t kMostPerNode = 64;
    const std::int64_t each = processes ? processes->value : 0;
    const std::int64_t count = node_count();
    const bool is_sane = count >= 1 && count <= most_nodes && each >= 1 && each <= kMostPerNode;
    return is_sane ? count * each : 0;
}

std::vector<Launch> find_launches(const Case& c) {
    std::vector<Launch> all;
    for (const Job& job : c.jobs) {
        if (job.form == Job::Form::pod || job.form == Job::Form::docker) {
            add(job, job.words, {}, {}, all);
        } else if (job.form == Job::Form::sbatch) {
            for (const Command& command : job.document->script.commands) {
                add(job, command.words, {}, {}, all);
                add_inner(job, command, all);
            }
        }
    }
    return all;
}

std::vector<Said> argument_words(const Document& d) {
    std::vector<Said> all;
    for (const Command& c : d.script.commands) {
        for (Said word : c.words) {
            if (word.text.ends_with(')') && word.text.find('(') == std::string::npos) {
                word.text.pop_back();
            }
            all.push_back(std::move(word));
        }
    }
    for (const auto* list : {&d.script.variables, &d.script.env}) {
        for (const EnvVar& v : *list) {
            if (v.value.text.find("--") == std::string::npos) continue;
            if (v.value.text.starts_with("(")) {  // ARGS=(--x 1): the rest are words
                Location first = v.value.where;
                first.column += static_cast<int>(v.name.size()) + 2;
                all.push_back({v.value.text.substr(1), first});
                continue;
            }
            std::string_view raw = raw_at(d, v.value.where);
            const std::size_t start = v.name.size() + 1;
            if (raw.size() <= start || (raw[start] != '"' && raw[start] != '\'')) continue;
            const char quote = raw[start];
            raw = raw.substr(start + 1);
            raw = raw.substr(0, raw.find(quote));
            Location at = v.value.where;
            at.column += static_cast<int>(start) + 1;
            for (const Command& c : read_script(raw, at).commands) {
                all.insert(all.end(), c.words.begin(), c.words.end());
            }
        }
    }
    std::stable_sort(all.begin(), all.end(), [](const Said& a, const Said& b) {
        return std::tie(a.where.line, a.where.column) < std::tie(b.where.line, b.where.column);
    });
    return all;
}

std::string resolved(const Document& d, std::string_view text) {
    std::string out(text);
    for (int round = 0; round < kMaxRounds && out.find('$') != std::string::npos; ++round) {
        std::string next;
        bool changed = false;
        for (std::size_t i = 0; i < out.size();) {
            const bool braced = out.compare(i, 2, "${") == 0;
            std::size_t end = i + (braced ? 2 : 1);
            const std::size_t start = end;
            while (out[i] == '$' && end < out.size() &&
                   (std::isalnum(static_cast<unsigned char>(out[end])) != 0 || out[end] == '_')) {
                ++end;
            }
            const bool is_variable =
                out[i] == '$' && end > start && (!braced || (end < out.size() && out[end] == '}'));
            const auto value = is_variable
                                   ? literal(d, std::string_view(out).substr(start, end - start))
                                   : std::nullopt;
            if (value) {
                next += *value;
                i = end + (braced ? 1 : 0);
                changed = true;
            } else {
                next += out[i++];
            }
        }
        if (!changed || next.size() > kMaxText) break;
        out = std::move(next);
    }
    return out;
}

std::optional<Count> option_count(const Document& d, const std::vector<Said>& words,
                                  std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) {
        const Said found = option(words, name);
        if (!found) continue;
        const auto n = whole_number(resolved(d, found.text));
        if (n) return Count{*n, found.where};
    }
    return std::nullopt;
}

std::string_view raw_at(const Document& d, const Location& where) {
    std::string_view text = d.source->text;
    for (int line = 1; line < where.line; ++line) {
        const std::size_t end = text.find('\n');
        if (end == std::string_view::npos) return {};
        text.remove_prefix(end + 1);
    }
    int column = 1;
    while (column < where.column && !text.empty()) {
        text.remove_prefix(1);
        const auto next = text.empty() ? 0U : static_cast<unsigned char>(text[0]);
        if ((next & 0xC0U) != 0x80U) ++column;
    }
    return text;
}

bool is_expanded_early(const Document& d, const Said& word, std::string_view name) {
    const std::string_view raw = raw_at(d, word.where);
    bool in_single = false;
    bool in_double = false;
    for (std::size_t i = 0; i < raw.size(); ++i) {
        const char c = raw[i];
        if (!in_single && !in_double && std::isspace(static_cast<unsigned char>(c)) != 0) break;
        if (c == '\'' && !in_double) in_single = !in_single;
        if (c == '"' && !in_single) in_double = !in_double;
        if (c == '\\' && !in_single) {
            ++i;
            continue;
        }
        if (c != '$' || in_single) continue;
        std::string_view rest = raw.substr(i + 1);
        if (rest.starts_with('{')) rest.remove_prefix(1);
        if (!rest.starts_with(name)) continue;
        const char after = rest.size() > name.size() ? rest[name.size()] : ' ';
        if (std::isalnum(static_cast<unsigned char>(after)) == 0 && after != '_') return true;
    }
    return false;
}

Said only_type(const Case& c) {
    Said found;
    const auto add = [&](const Said& type) {
        if (!facts::is_accelerated(c, type.text)) return true;
        if (found && found.text != type.text) return false;
        found = type;
        return true;
    };
    for (const Pool& p : c.pools) {
        if (!std::all_of(p.types.begin(), p.types.end(), add)) return {};
    }
    for (const Job& job : c.jobs) {
        if (!std::all_of(job.types.begin(), job.types.end(), add)) return {};
    }
    for (const Training& t : c.trainings) {
        if (t.type && !add(t.type)) return {};
    }
    return found;
}

const catalog::Instance* instance_of(const Case& c, const Launch& launch) {
    if (launch.job->form == Job::Form::pod) return facts::only(c, c.types_of(*launch.job));
    std::vector<Said> types;
    for (const Pool& p : c.pools) {
        for (const Said& t : p.types) {
            if (facts::is_accelerated(c, t.text)) types.push_back(t);
        }
    }
    return facts::only(c, types);
}

}  // namespace trainyard::lint
