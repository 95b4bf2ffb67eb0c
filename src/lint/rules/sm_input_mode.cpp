// The whole data set copied to every node.

#include <fmt/format.h>

#include "facts.hpp"
#include "found.hpp"

namespace trainyard::lint::sm_input_mode {

namespace {

/// A channel that reads S3 whole: no FastFile or Pipe of its own, not sharded.
Said whole_channel(const doc::Node* channels) {
    if (channels == nullptr) return {};
    const bool by_name = channels->is(doc::Node::Kind::map) && get(channels, "()") == nullptr;
    if (by_name) {
        for (const auto& [name, value] : channels->members()) {
            if (is_one_of(name, {"code", "config", "tokenizer", "scripts"})) continue;
            const Said path = said(&value);
            if (path.text.starts_with("s3://")) return path;
        }
        return {};
    }
    for (const doc::Node* channel : each(channels)) {
        const std::string name = said(channel, {"ChannelName"}).text;
        if (is_one_of(name, {"code", "config", "tokenizer", "scripts"})) continue;
        const Said own = said(channel, {"InputMode"});
        const doc::Node* s3 = get(channel, {"DataSource", "S3DataSource"});
        const bool is_sharded = said(s3, {"S3DataDistributionType"}).is("ShardedByS3Key");
        if ((own && !own.is("File")) || is_sharded) continue;
        if (const Said uri = said(s3, {"S3Uri"})) return uri;
        if (said(channel).text.starts_with("s3://")) return said(channel);
    }
    return {};
}

void find(const Case& c, Found& found) {
    for (const Training& t : c.trainings) {
        const bool is_file = !t.input_mode || t.input_mode.is("File");
        const std::int64_t nodes = t.count ? t.count->value : 1;
        if (!is_file || nodes < 2 || !facts::is_accelerated(c, t.type.text)) continue;
        if (t.form == Training::Form::request && !t.input_mode) continue;
        const Said channel = whole_channel(t.channels);
        if (!channel) continue;
        const Said at = t.input_mode ? t.input_mode : channel;
        Finding& f =
            found.at(at, fmt::format("File mode: each of {} nodes downloads all of {} before "
                                     "step 1",
                                     nodes, channel.text));
        f.waste = price_of(c, t.type.text, nodes);
    }
}

}  // namespace

Rule rule() {
    return {.id = "SM-INPUT-MODE",
            .severity = Severity::warning,
            .title = "File mode copies the whole data set to each node before the first step",
            .applies = "SageMaker jobs with several accelerated instances and S3 channels",
            .why = "the nodes are billed while they download, each the full set",
            .fix = "TrainingInputMode FastFile, or FSx for Lustre",
            .source = "SageMaker documentation, access training data",
            .find = find};
}

}  // namespace trainyard::lint::sm_input_mode
