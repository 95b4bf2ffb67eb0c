#include <algorithm>

#include "model.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::lint {

namespace {

/// NAME=value words of Dockerfile's ENV, and the old "ENV NAME value".
void read_image_env(const Command& c, std::vector<EnvVar>& env) {
    for (std::size_t i = 1; i < c.words.size(); ++i) {
        const std::string& word = c.words[i].text;
        const std::size_t equals = word.find('=');
        if (equals != std::string::npos) {
            env.push_back({word.substr(0, equals), {word.substr(equals + 1), c.words[i].where}});
        } else if (i == 1 && c.words.size() == 3) {
            env.push_back({word, {c.words[2].text, c.words[1].where}});
        }
    }
}

Job image_job(const Document& d) {
    Job job;
    job.form = Job::Form::image;
    job.document = &d;
    job.where = d.head();
    for (const Command& c : d.script.commands) {
        if (c.words[0].is("FROM") && c.words.size() > 1) job.image = c.words[1];
        if (c.words[0].is("ENV")) read_image_env(c, job.env);
        job.words.insert(job.words.end(), c.words.begin(), c.words.end());
    }
    return job;
}

/// docker run: its -e variables; the command stands behind the image.
Job docker_job(const Document& d, const Command& c) {
    Job job;
    job.form = Job::Form::docker;
    job.document = &d;
    job.where = c.words.front().where;
    job.env = d.script.env;
    job.words = c.words;
    for (std::size_t i = 0; i + 1 < c.words.size(); ++i) {
        if (!is_one_of(c.words[i].text, {"-e", "--env"})) continue;
        const std::string& word = c.words[i + 1].text;
        const std::size_t equals = word.find('=');
        if (equals == std::string::npos) continue;
        job.env.push_back(
            {word.substr(0, equals), {word.substr(equals + 1), c.words[i + 1].where}});
    }
    job.nodes = count(nullptr);
    if (const Said nodes = option(c.words, "nnodes")) {
        if (const auto n = whole_number(nodes.text)) job.nodes = Count{*n, nodes.where};
    }
    job.is_training = is_launcher(c.words);
    return job;
}

/// "docker run" stands in the command, at its start or below srun.
bool runs_container(const Command& c) {
    for (std::size_t i = 0; i + 1 < c.words.size(); ++i) {
        const bool is_tool = is_one_of(c.words[i].text, {"docker", "nerdctl", "podman"});
        if (is_tool && c.words[i + 1].is("run")) return true;
    }
    return c.words.size() > 1 && is_one_of(c.program(), {"docker", "nerdctl", "podman"}) &&
           std::any_of(c.words.begin(), c.words.end(), [](const Said& w) { return w.is("run"); });
}

Job batch_job(const Document& d) {
    Job job;
    job.form = Job::Form::sbatch;
    job.document = &d;
    job.where = d.head();
    job.env = d.script.env;
    for (const Command& c : d.script.commands) {
        job.words.insert(job.words.end(), c.words.begin(), c.words.end());
        append_passed_env(c.words, job.env);
    }
    if (const EnvVar* nodes = find_env(d.script.directives, "nodes")) {
        if (const auto n = whole_number(nodes->value.text))
            job.nodes = Count{*n, nodes->value.where};
    } else if (const Said flag = option(job.words, "nnodes")) {
        if (const auto n = whole_number(flag.text)) job.nodes = Count{*n, flag.where};
    }
    for (const std::string_view name : {"gpus-per-node", "gres"}) {
        const EnvVar* gpus = find_env(d.script.directives, name);
        if (gpus == nullptr) continue;
        const std::string& text = gpus->value.text;
        const std::size_t colon = text.rfind(':');
        const auto n = whole_number(colon == std::string::npos ? text : text.substr(colon + 1));
        if (n) job.gpus = Count{*n, gpus->value.where};
    }
    job.is_training = is_launcher(job.words);
    return job;
}

}  // namespace

void append_passed_env(const std::vector<Said>& words, std::vector<EnvVar>& env) {
    const auto add = [&](std::string_view text, const Location& where) {
        const std::size_t equals = text.find('=');
        if (equals == std::string_view::npos || equals == 0) return;
        env.push_back(
            {std::string(text.substr(0, equals)), {std::string(text.substr(equals + 1)), where}});
    };
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i].text;
        if (word == "-x" && i + 1 < words.size()) add(words[i + 1].text, words[i + 1].where);
        if (!word.starts_with("--export=")) continue;
        for (const std::string_view part : split(std::string_view(word).substr(9), ',')) {
            add(part, words[i].where);
        }
    }
}

bool is_launcher(const std::vector<Said>& words) {
    return std::any_of(words.begin(), words.end(), [](const Said& w) {
        return w.text == "torchrun" || w.text.ends_with("/torchrun") ||
               contains(w.text, "torch.distributed") || w.text == "deepspeed" ||
               w.text == "accelerate";
    });
}

void read_scripts(const Document& d, Case& into) {
    if (d.kind == Kind::dockerfile) {
        into.jobs.push_back(image_job(d));
        return;
    }
    bool has_docker = false;
    for (const Command& c : d.script.commands) {
        if (runs_container(c)) {
            into.jobs.push_back(docker_job(d, c));
            has_docker = true;
        }
    }
    if (!has_docker) into.jobs.push_back(batch_job(d));
}

}  // namespace trainyard::lint
