#include "checkpoint_scenes.hpp"

#include <fmt/format.h>

#include <cstring>

namespace trainyard::store::scenes {

namespace {

template <typename T>
std::string le(T value) {
    std::string bytes(sizeof value, '\0');
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
}

std::string u16(std::size_t value) { return le(static_cast<std::uint16_t>(value)); }
std::string u32(std::size_t value) { return le(static_cast<std::uint32_t>(value)); }

}  // namespace

PickleWriter& PickleWriter::raw(std::string_view bytes) {
    bytes_ += bytes;
    return *this;
}
PickleWriter& PickleWriter::text(std::string_view value) {
    bytes_ += "X" + u32(value.size()) + std::string(value);
    return *this;
}
PickleWriter& PickleWriter::integer(std::uint32_t value) {
    bytes_ += "J" + u32(value);
    return *this;
}
PickleWriter& PickleWriter::global(std::string_view module, std::string_view name) {
    bytes_ += fmt::format("c{}\n{}\n", module, name);
    return *this;
}

std::string zip(const std::map<std::string, std::string>& records) {
    std::string body;
    std::string central;
    for (const auto& [name, contents] : records) {
        // Version, flags, method 0 (stored), time and date; the CRC is not read by anyone here.
        const std::string fields = u16(0) + u16(0) + u16(0) + u16(0) + u16(0) + u32(0) +
                                   u32(contents.size()) + u32(contents.size()) + u16(name.size());
        central += "PK\x01\x02" + u16(0) + fields + u16(0) + u16(0) + u16(0) + u16(0) + u32(0) +
                   u32(body.size()) + name;
        body += "PK\x03\x04" + fields + u16(0) + name + contents;
    }
    return body + central + "PK\x05\x06" + u16(0) + u16(0) + u16(records.size()) +
           u16(records.size()) + u32(central.size()) + u32(body.size()) + u16(0);
}

std::string torch_file(std::string pickle, std::size_t tensor_bytes) {
    return zip({{"archive/data.pkl", std::move(pickle)},
                {"archive/data/0", std::string(tensor_bytes, 'w')},
                {"archive/version", "3\n"}});
}

std::string safetensors(std::size_t tensor_bytes) {
    const std::string header = fmt::format(
        R"({{"w":{{"dtype":"U8","shape":[{}],"data_offsets":[0,{}]}},"__metadata__":{{"a":"b"}}}})",
        tensor_bytes, tensor_bytes);
    return le(static_cast<std::uint64_t>(header.size())) + header + std::string(tensor_bytes, 't');
}

std::string dcp_metadata(const std::vector<DcpItem>& items) {
    PickleWriter p;
    p.global("torch.distributed.checkpoint.metadata", "Metadata").raw(")\x81}(");
    p.text("state_dict_metadata").raw("}").text("storage_data").raw("}(");
    for (const DcpItem& item : items) {
        p.global("torch.distributed.checkpoint.metadata", "MetadataIndex").raw(")\x81}(");
        p.text("fqn").text("model." + item.path).text("offset").raw("N").raw("ub");
        p.global("torch.distributed.checkpoint.filesystem", "_StorageInfo").raw(")\x81}(");
        p.text("relative_path").text(item.path);
        p.text("offset").integer(static_cast<std::uint32_t>(item.offset));
        p.text("length").integer(static_cast<std::uint32_t>(item.length)).raw("ub");
    }
    return p.raw("uub").finish();
}

namespace {

/// Two items in each of two files.
std::map<std::string, std::string> dcp_files(const std::string& prefix) {
    const std::string a = torch_file(PickleWriter().raw("N").finish(), 3000);
    const std::string b = torch_file(PickleWriter().raw("N").finish(), 500);
    std::map<std::string, std::string> files;
    std::vector<DcpItem> items;
    for (const std::string name : {"__0_0.distcp", "__1_0.distcp"}) {
        files[prefix + name] = a + b;
        items.push_back({name, 0, a.size()});
        items.push_back({name, a.size(), b.size()});
    }
    files[prefix + ".metadata"] = dcp_metadata(items);
    return files;
}

std::string deepspeed_states(std::uint32_t data, std::uint32_t model, std::uint32_t stage) {
    PickleWriter p;
    p.raw("}(").text("module").raw("N").text("dp_world_size").integer(data);
    p.text("mp_world_size").integer(model).text("ds_config").raw("}(");
    p.text("zero_optimization").raw("}(").text("stage").integer(stage).raw("uuu");
    return torch_file(p.finish(), 1000);
}

std::string megatron_states(std::uint32_t tensor, std::uint32_t pipeline) {
    PickleWriter p;
    p.raw("}(").text("args").global("argparse", "Namespace").raw(")\x81}(");
    p.text("tensor_model_parallel_size").integer(tensor);
    p.text("pipeline_model_parallel_size").integer(pipeline);
    p.text("use_distributed_optimizer").raw("\x88ubu");
    return torch_file(p.finish(), 700);
}

Scene deepspeed(bool zero3) {
    Scene scene{"deepspeed", "global_step100", {{"latest", "global_step100"}}};
    const std::string d = scene.directory + "/";
    const std::string optimizer = torch_file(PickleWriter().raw("N").finish(), 2000);
    for (int data = 0; data < 3; ++data) {
        const std::string rank = fmt::format("zero_pp_rank_{}_mp_rank_00", data);
        scene.files[d + (zero3 ? "" : "bf16_") + rank + "_optim_states.pt"] = optimizer;
        if (zero3) scene.files[d + rank + "_model_states.pt"] = deepspeed_states(3, 1, 3);
    }
    if (!zero3) scene.files[d + "mp_rank_00_model_states.pt"] = deepspeed_states(3, 1, 1);
    return scene;
}

Scene megatron_legacy() {
    Scene scene{"megatron-legacy", "iter_0000100", {{"latest_checkpointed_iteration.txt", "100"}}};
    for (const char* rank : {"00_000", "00_001", "01_000", "01_001"}) {
        const std::string d = fmt::format("iter_0000100/mp_rank_{}/", rank);
        scene.files[d + "model_optim_rng.pt"] = megatron_states(2, 2);
        scene.files[d + "distrib_optim.pt"] = torch_file(PickleWriter().raw("N").finish(), 900);
    }
    return scene;
}

Scene hf_trainer(bool sharded) {
    Scene scene{"hf-trainer", "checkpoint-100", {}};
    const std::string d = "checkpoint-100/";
    const std::string saved = torch_file(PickleWriter().raw("}").finish(), 400);
    scene.files[d + "trainer_state.json"] = "{\"global_step\": 100, \"loss\": NaN}";
    scene.files[d + "config.json"] = "{\"model_type\": \"llama\"}";
    scene.files[d + "optimizer.pt"] = saved;
    scene.files[d + "scheduler.pt"] = saved;
    if (!sharded) {
        scene.files[d + "model.safetensors"] = safetensors(900);
        return scene;
    }
    scene.files[d + "model-00001-of-00002.safetensors"] = safetensors(900);
    scene.files[d + "model-00002-of-00002.safetensors"] = safetensors(300);
    scene.files[d + "model.safetensors.index.json"] =
        R"({"weight_map": {"a": "model-00001-of-00002.safetensors",
                           "b": "model-00002-of-00002.safetensors"}})";
    scene.files[d + "rng_state_0.pth"] = saved;
    scene.files[d + "rng_state_1.pth"] = saved;
    scene.has_end_mark = false;  // the ranks do not wait for each other
    return scene;
}

std::map<std::string, std::string> below(const std::string& directory,
                                         const std::map<std::string, std::string>& files) {
    std::map<std::string, std::string> moved;
    for (const auto& [name, contents] : files) moved[directory + "/" + name] = contents;
    return moved;
}

}  // namespace

std::vector<Scene> all() {
    const std::string saved = torch_file(PickleWriter().raw("N").finish(), 400);
    Scene megatron{"megatron", "iter_0000100", below("iter_0000100", dcp_files(""))};
    megatron.files["iter_0000100/metadata.json"] = "{\"sharded_backend\": \"torch_dist\"}";
    megatron.files["iter_0000100/common.pt"] = saved;
    Scene accelerate{"accelerate", "checkpoint_100",
                     below("checkpoint_100", dcp_files("pytorch_model_fsdp_0/"))};
    accelerate.files["checkpoint_100/random_states_0.pkl"] = PickleWriter().raw("N").finish();
    accelerate.files["checkpoint_100/scheduler.bin"] = saved;
    accelerate.has_end_mark = false;
    Scene rank_metadata{"dcp", "step-100", {}};
    for (const auto& [name, contents] : below("step-100", dcp_files(""))) {
        if (!name.ends_with(".metadata")) rank_metadata.files[name] = contents;
    }
    for (const std::string rank : {"0", "1"}) {
        const std::string data = "__" + rank + "_0.distcp";
        const std::size_t whole = rank_metadata.files["step-100/" + data].size();
        const std::size_t first = torch_file(PickleWriter().raw("N").finish(), 3000).size();
        rank_metadata.files["step-100/__" + rank + ".metadata"] =
            dcp_metadata({{data, 0, first}, {data, first, whole - first}});
    }
    rank_metadata.has_end_mark = false;
    Scene plain{"plain", "run-100", {{"run-100/weights.dat", "abc"}, {"run-100/done", "1"}}};
    plain.needs_marker = true;
    Scene weights{"safetensors", "w100", {{"w100/model.safetensors", safetensors(5000)}}};
    weights.has_end_mark = false;
    Scene torch{"torch", "t100", {{"t100/model.pt", saved}, {"t100/optim.pt", saved}}};
    torch.has_end_mark = false;
    return {{"dcp", "step-100", below("step-100", dcp_files(""))},
            rank_metadata,
            megatron,
            megatron_legacy(),
            deepspeed(false),
            deepspeed(true),
            hf_trainer(false),
            hf_trainer(true),
            accelerate,
            weights,
            torch,
            plain};
}

}  // namespace trainyard::store::scenes
