#include "sender.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "trainyard/aws/etag.hpp"

namespace trainyard::store {

namespace {

aws::Checksum empty() { return aws::empty_checksum(kContentChecksum); }

Error changed(const std::string& path) {
    return {ErrorKind::world,
            {{.where = {path, 0, 0},
              .what = "the file changed while it was read",
              .why = "a mix of two saves would be no checkpoint; nothing was committed",
              .fix = "put again when the job has finished its save"}}};
}

}  // namespace

Result<std::uint64_t> stored_checksum(aws::ObjectStore& store, const std::string& key,
                                      std::uint64_t size, std::uint64_t part_size,
                                      const aws::Call& call) {
    const auto info = store.head(key, call);
    if (!info) return aws::to_error(info.error());
    if (info->checksum && info->checksum->algorithm == kContentChecksum) {
        return info->checksum->value;
    }
    aws::Checksum sum = empty();
    std::string bytes;
    for (std::uint64_t at = 0; at < size; at += bytes.size()) {
        bytes.resize(std::min(part_size, size - at));
        const auto got = store.get(key, at, bytes, {}, call);
        if (!got) return aws::to_error(got.error());
        sum = aws::continue_checksum(sum, bytes);
    }
    return sum.value;
}

Result<Sender::Source> Sender::open(const TreeFile& file) {
    Source source;
    source.path = request_.tree.root + "/" + file.path;
    source.expected = &file;
    auto opened = r_.env_.open(source.path);
    if (!opened) return opened.error().as_error();
    source.file = std::move(*opened);
    return source;
}

std::optional<Error> Sender::unchanged(const Source& source) {
    const auto status = source.file->status();
    if (!status) return status.error().as_error();
    if (status->size != source.expected->size ||
        status->modified_ns != source.expected->modified_ns) {
        return changed(source.path);
    }
    return std::nullopt;
}

Result<BufferPool::Lease> Sender::bytes(const Source& source, std::uint64_t offset,
                                        std::uint64_t size) {
    BufferPool::Lease text = buffers_.lease(size);
    const auto n = source.file->read_at(offset, *text);
    if (!n) return n.error().as_error();
    if (*n != size) return changed(source.path);
    return Result<BufferPool::Lease>(std::move(text));
}

std::optional<Error> Sender::measure(const Source& source, StoredFile& stored,
                                     std::vector<aws::Part>* etags) {
    const auto plan = aws::plan_parts(stored.size, r_.settings_.part_size, r_.store_.limits());
    if (!plan) {
        return bad_input(Diagnostic{.where = {source.path, 0, 0},
                                    .what = "larger than the store takes",
                                    .why = {},
                                    .fix = {}});
    }
    aws::Checksum sum = empty();
    stored.parts.clear();
    for (int number = 1; number <= plan->parts; ++number) {
        const auto text = bytes(source, plan->offset(number), plan->size(number));
        if (!text) return text.error();
        const aws::Checksum part = aws::checksum_of(kContentChecksum, **text);
        sum = aws::combine(sum, part, (*text)->size());
        if (etags != nullptr) {
            etags->push_back({number, (*text)->size(), aws::etag_of(**text), part});
        }
        if (plan->parts > 1) stored.parts.push_back(part.value);
    }
    stored.part_size = plan->parts > 1 ? plan->part_size : 0;
    stored.checksum = sum.value;
    return std::nullopt;
}

void Sender::advance(std::uint64_t bytes) {
    const std::scoped_lock lock(mutex_);
    done_ += bytes;
    if (r_.settings_.progress) r_.settings_.progress(done_, request_.tree.bytes);
}

void Sender::count_sent(std::uint64_t bytes) {
    r_.meter_.add(bytes, r_.env_.steady_ns());
    const std::scoped_lock lock(mutex_);
    report_.sent += bytes;
}

Error Sender::late() const {
    return {ErrorKind::world,
            {{.where = {request_.tree.root, 0, 0},
              .what = fmt::format("not committed in time: {} of {} bytes are in the store",
                                  report_.sent + report_.resumed + report_.reused, report_.bytes),
              .why = "sending ends 10 s before the deadline",
              .fix = "put again: it sends only what is missing"}}};
}

Result<aws::Call> Sender::call() {
    aws::Call call = r_.call();
    if (!last_ns_) return call;
    const std::int64_t left = *last_ns_ - r_.env_.steady_ns();
    if (left <= 0) {
        const std::scoped_lock lock(mutex_);
        return late();
    }
    call.deadline = aws::StoreClock::now() + std::chrono::nanoseconds(left);
    return call;
}

Error Sender::failed(const aws::StoreError& error) const {
    const bool is_late = last_ns_ && r_.env_.steady_ns() >= *last_ns_ - 100'000'000;
    return is_late && error.fault == aws::StoreFault::timed_out ? late() : aws::to_error(error);
}

std::optional<Error> Sender::look_around() {
    // After the intent: what is listed now stays until the intent is gone.
    const auto inventory = r_.inventory();
    if (!inventory) return inventory.error();
    if (!inventory->checkpoints.empty()) {
        for (const StoredFile& file : inventory->checkpoints.front().manifest.files) {
            base_[file.path] = file;
        }
    }
    const std::string own = fmt::format("data/{}/{}/", report_.id, request_.node);
    const auto objects = r_.list(own);
    if (!objects) return objects.error();
    for (const aws::ObjectInfo& info : *objects) there_[info.key] = info.size;
    std::string next;
    do {
        const auto page = r_.store_.list_uploads(r_.key(own), next, r_.call());
        if (!page && page.error().fault == aws::StoreFault::invalid) return std::nullopt;
        if (!page) return aws::to_error(page.error());
        for (const aws::OpenUpload& open : page->uploads) {
            uploads_.emplace(open.upload.key, open.upload);
        }
        next = page->next;
    } while (!next.empty());
    return std::nullopt;
}

/// Part by part against what an older checkpoint has; the first difference ends it, since most
/// files of most steps differ at once.
Result<bool> Sender::has_bytes_of(const Source& source, const StoredFile& old) {
    const std::uint64_t part = old.parts.empty() ? old.size : old.part_size;
    const std::size_t count = std::max<std::size_t>(old.parts.size(), 1);
    std::atomic<bool> differs = false;
    const bool is_large = old.size > r_.settings_.part_size * 4;
    auto error = run_jobs(is_large ? r_.settings_.jobs : 1, count, [&](std::size_t i) {
        if (differs) return std::optional<Error>();
        const std::uint64_t offset = i * part;
        const auto text = bytes(source, offset, std::min(part, old.size - offset));
        if (!text) return std::optional<Error>(text.error());
        const std::uint64_t wanted = old.parts.empty() ? old.checksum : old.parts[i];
        if (aws::checksum_of(kContentChecksum, **text).value != wanted) differs = true;
        return std::optional<Error>();
    });
    if (error) return *error;
    return !differs;
}

/// An unchanged file of the newest checkpoint is not sent again.
Result<bool> Sender::reuse(const Source& source, StoredFile& stored) {
    const auto found = base_.find(stored.path);
    if (found == base_.end()) return false;
    const StoredFile& old = found->second;
    if (old.size != stored.size || stored.size == 0) return false;
    auto is_same = has_bytes_of(source, old);
    if (!is_same || !*is_same) return is_same;
    const auto info = r_.store_.head(r_.key(old.object), r_.call());
    if (!info && info.error().fault == aws::StoreFault::not_found) return false;
    if (!info) return aws::to_error(info.error());
    if (info->size != stored.size) return false;
    stored.checksum = old.checksum;
    stored.object = old.object;
    stored.part_size = old.part_size;
    stored.parts = old.parts;
    const std::scoped_lock lock(mutex_);
    report_.reused += stored.size;
    return true;
}

/// An earlier try sent it whole; its bytes decide, not its name: by the checksum that the store
/// keeps, by its ETag if that is an MD5, else by reading it back.
Result<bool> Sender::resume_whole(const Source& source, StoredFile& stored) {
    const auto found = there_.find(stored.object);
    if (found == there_.end() || found->second != stored.size) return false;
    const std::string key = r_.key(stored.object);
    const auto info = r_.store_.head(key, r_.call());
    if (!info && info.error().fault == aws::StoreFault::not_found) return false;
    if (!info) return aws::to_error(info.error());
    const bool has_sum = info->checksum && info->checksum->algorithm == kContentChecksum;
    const bool has_etag = !has_sum && aws::is_md5_etag(info->etag);
    std::vector<aws::Part> etags;
    if (auto error = measure(source, stored, has_etag ? &etags : nullptr)) return *error;
    bool is_same = false;
    if (has_etag) {
        is_same = info->etag == (stored.parts.empty() ? etags.front().etag
                                                      : aws::etag_of_parts(etags).value_or(""));
    } else {
        const auto is = has_sum ? Result<std::uint64_t>(info->checksum->value)
                                : stored_checksum(r_.store_, key, stored.size,
                                                  r_.settings_.part_size, r_.call());
        if (!is) return is.error();
        is_same = *is == stored.checksum;
    }
    if (!is_same) return false;
    const std::scoped_lock lock(mutex_);
    report_.resumed += stored.size;
    return true;
}

std::optional<Error> Sender::send_small(const Source& source, StoredFile& stored) {
    const auto body = bytes(source, 0, stored.size);
    if (!body) return body.error();
    if (auto error = unchanged(source)) return error;
    const aws::Checksum sum = aws::checksum_of(kContentChecksum, **body);
    stored.checksum = sum.value;
    stored.part_size = 0;
    stored.parts.clear();
    aws::PutOptions options;
    options.checksum = sum;
    const auto bounded = call();
    if (!bounded) return bounded.error();
    const auto done = r_.store_.put(r_.key(stored.object), **body, options, *bounded);
    if (!done) return failed(done.error());
    count_sent(stored.size);
    return std::nullopt;
}

Result<aws::Upload> Sender::upload_for(const StoredFile& stored, std::map<int, aws::Part>& there) {
    const std::string key = r_.key(stored.object);
    std::optional<aws::Upload> best;
    const auto [first, last] = uploads_.equal_range(key);
    for (auto at = first; at != last; ++at) {
        std::map<int, aws::Part> parts;
        std::string next;
        bool is_open = true;
        do {
            const auto page = r_.store_.list_parts(at->second, next, r_.call());
            is_open = page.has_value();
            if (!page && page.error().fault != aws::StoreFault::no_such_upload) {
                return aws::to_error(page.error());
            }
            if (!page) break;
            for (const aws::Part& part : page->parts) parts[part.number] = part;
            next = page->next;
        } while (!next.empty());
        if (is_open && (!best || parts.size() > there.size())) {
            if (best) static_cast<void>(r_.store_.abort_upload(*best, r_.call()));
            best = at->second;
            there = std::move(parts);
        } else {
            static_cast<void>(r_.store_.abort_upload(at->second, r_.call()));
        }
    }
    if (best) return *best;
    auto fresh = r_.store_.create_upload(key, kContentChecksum, r_.call());
    if (!fresh) return aws::to_error(fresh.error());
    return std::move(*fresh);
}

/// Whether an interrupted put sent these bytes. Stores that keep no checksum have an MD5 as ETag.
bool Sender::is_there(const std::map<int, aws::Part>& there, int number, std::string_view body,
                      const aws::Checksum& sum) {
    const auto old = there.find(number);
    if (old == there.end() || old->second.size != body.size()) return false;
    if (old->second.checksum) return *old->second.checksum == sum;
    return aws::is_md5_etag(old->second.etag) && old->second.etag == aws::etag_of(body);
}

std::optional<Error> Sender::send_parts(const Source& source, StoredFile& stored, int jobs) {
    const auto plan = aws::plan_parts(stored.size, r_.settings_.part_size, r_.store_.limits());
    std::map<int, aws::Part> there;
    const auto upload = upload_for(stored, there);
    if (!upload) return upload.error();
    std::vector<aws::Part> parts(static_cast<std::size_t>(plan->parts));
    stored.parts.assign(parts.size(), 0);
    stored.part_size = plan->part_size;
    auto error = run_jobs(jobs, parts.size(), [&](std::size_t i) -> std::optional<Error> {
        const int number = static_cast<int>(i) + 1;
        const auto body = bytes(source, plan->offset(number), plan->size(number));
        if (!body) return body.error();
        const aws::Checksum sum = aws::checksum_of(kContentChecksum, **body);
        stored.parts[i] = sum.value;
        if (is_there(there, number, **body, sum)) {
            parts[i] = there.at(number);
            parts[i].checksum = sum;
            const std::scoped_lock lock(mutex_);
            report_.resumed += (*body)->size();
        } else {
            const auto bounded = call();
            if (!bounded) return bounded.error();
            auto sent = r_.store_.put_part(*upload, number, **body, sum, *bounded);
            if (!sent) return failed(sent.error());
            parts[i] = std::move(*sent);
            count_sent((*body)->size());
        }
        advance((*body)->size());
        return std::nullopt;
    });
    if (error) return error;
    if (auto flaw = unchanged(source)) return flaw;
    aws::Checksum whole = empty();
    for (int number = 1; number <= plan->parts; ++number) {
        const aws::Checksum part{kContentChecksum,
                                 stored.parts[static_cast<std::size_t>(number - 1)]};
        whole = aws::combine(whole, part, plan->size(number));
    }
    stored.checksum = whole.value;
    aws::CompleteOptions options;
    options.checksum = whole;
    const auto done = r_.store_.complete_upload(*upload, parts, options, r_.call());
    if (!done) return aws::to_error(done.error());
    return std::nullopt;
}

std::optional<Error> Sender::one(std::size_t index, int jobs) {
    const TreeFile& file = request_.tree.files[index];
    StoredFile& stored = files_[index];
    const auto source = open(file);
    if (!source) return source.error();
    if (auto error = unchanged(*source)) return error;
    const auto reused = reuse(*source, stored);
    if (!reused) return reused.error();
    const auto resumed = *reused ? Result<bool>(true) : resume_whole(*source, stored);
    if (!resumed) return resumed.error();
    if (*resumed) {
        advance(stored.size);
        return unchanged(*source);
    }
    const auto plan = aws::plan_parts(stored.size, r_.settings_.part_size, r_.store_.limits());
    if (plan && plan->parts > 1) return send_parts(*source, stored, jobs);
    if (auto error = send_small(*source, stored)) return error;
    advance(stored.size);
    return std::nullopt;
}

Result<std::vector<StoredFile>> Sender::send(std::int64_t begun_ns) {
    if (request_.within) {
        const auto forecast = r_.forecast();
        const Seconds sending = *request_.within - kCommitMargin -
                                (forecast ? forecast->overhead : Forecast{}.overhead);
        last_ns_ = begun_ns + static_cast<std::int64_t>(sending / kSecond * 1e9);
    }
    if (auto error = look_around()) return *error;
    files_ = intent_.files;
    // Large files share the jobs among their parts, the others among themselves.
    std::vector<std::size_t> others;
    const int jobs = r_.settings_.jobs;
    const auto large = r_.settings_.part_size * static_cast<std::uint64_t>(jobs);
    for (std::size_t i = 0; i < files_.size(); ++i) {
        if (files_[i].size <= large) {
            others.push_back(i);
        } else if (auto error = one(i, jobs)) {
            return *error;
        }
    }
    auto error = run_jobs(jobs, others.size(), [&](std::size_t i) { return one(others[i], 1); });
    if (error) return *error;
    // A resumed file may have been sent whole and its upload left behind by the last try.
    for (const auto& [key, upload] : uploads_) {
        const auto gone = r_.store_.abort_upload(upload, r_.call());
        if (!gone) return aws::to_error(gone.error());
    }
    return files_;
}

}  // namespace trainyard::store
