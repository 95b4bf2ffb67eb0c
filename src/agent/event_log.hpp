#pragma once
// STATE/events.jsonl: what happened, one JSON object a line; docs/reference/supervisor.md.

#include <cstdint>
#include <string>

#include "trainyard/agent/machine.hpp"
#include "trainyard/sys/env.hpp"

namespace trainyard::agent {

class EventLog {
  public:
    EventLog(std::string path, sys::Env& env) : path_(std::move(path)), env_(env) {}
    /// A full disk loses events, never the run.
    void write(const action::Say& said, int attempt);

  private:
    std::string path_;
    sys::Env& env_;
};

}  // namespace trainyard::agent
