// The readers of Python, Terraform and shell: what they understand, where it stands, and what they
// leave open.

#include <gtest/gtest.h>

#include "hcl.hpp"
#include "python_calls.hpp"
#include "said.hpp"
#include "script.hpp"

namespace trainyard::lint {
namespace {

const doc::Node* call(const doc::Node& root, std::size_t index) {
    return each(get(&root, "calls")).at(index);
}

TEST(Python, KeywordsNestedCallsAndNamesBoundBefore) {
    const doc::Node root = read_python(
        "from sagemaker.train import ModelTrainer\n"
        "KIND = 'ml.p5.48xlarge'\n"
        "t = ModelTrainer(\n"
        "    compute=Compute(instance_type=KIND, instance_count=4),\n"
        "    environment={'A': \"x\" 'y', **more},\n"
        ")\n",
        "launch.py");
    const doc::Node* trainer = call(root, 1);  // the inner call ends first
    EXPECT_EQ(said(trainer, {"()"}).text, "ModelTrainer");
    EXPECT_EQ(said(trainer, {"compute", "instance_type"}).text, "ml.p5.48xlarge");
    EXPECT_EQ(count(trainer, {"compute", "instance_count"})->value, 4);
    EXPECT_EQ(count(trainer, {"compute", "instance_count"})->where.line, 4);
    EXPECT_EQ(said(trainer, {"environment", "A"}).text, "xy");
    EXPECT_EQ(each(get(&root, "imports")).front()->text(),
              "from sagemaker.train import ModelTrainer");
}

TEST(Python, WhatMustBeCalculatedStaysOpen) {
    const doc::Node root = read_python("f(a=2 * n, b=f'{x}', c=g[0], d=-3)\n", "a.py");
    for (const std::string_view key : {"a", "b", "c"}) {
        EXPECT_TRUE(is_open(said(get(call(root, 0), key)).text)) << key;
    }
    EXPECT_EQ(count(call(root, 0), {"d"})->value, -3);
}

TEST(Hcl, BlocksAreListsAndExpressionsStayText) {
    const auto root = read_hcl(
        "resource \"aws_launch_template\" \"gpu\" {\n"
        "  count = var.on ? 1 : 0 # why\n"
        "  network_interfaces {\n    device_index = 0\n  }\n"
        "  network_interfaces { device_index = 1 }\n"
        "  tags = { Name = \"x-${var.y}\" }\n"
        "}\n",
        "main.tf");
    ASSERT_TRUE(root.has_value());
    const doc::Node* resource = each(get(&*root, "resource")).front();
    EXPECT_EQ(all_said(get(resource, "#labels")).back().text, "gpu");
    EXPECT_EQ(said(resource, {"count"}).text, "var.on ? 1 : 0");
    const auto nics = each(get(resource, "network_interfaces"));
    ASSERT_EQ(nics.size(), 2U);
    EXPECT_EQ(count(nics[1], {"device_index"})->where.line, 6);
    EXPECT_EQ(said(resource, {"tags", "Name"}).text, "x-${var.y}");
}

TEST(Hcl, AnOpenBlockIsToldWhereItBegan) {
    const auto root = read_hcl("a = 1\nresource \"x\" \"y\" {\n  b = [1,\n", "main.tf");
    ASSERT_FALSE(root.has_value());
    EXPECT_EQ(root.error().diagnostics.front().where.line, 3);
}

TEST(Script, CommandsVariablesAndDirectives) {
    const Script s = read_script(
        "#!/bin/bash\n#SBATCH -N 4\n#SBATCH --gres=gpu:8 # all\n"
        "export A=1 B='two words'\nC=3\nD=4 srun torchrun \\\n  --nnodes=4 --rdzv_endpoint "
        "\"$H:1\" x.py\n"
        "cat <<EOF\nnot a command\nEOF\necho done # end\n",
        {"job.sbatch", 1, 1});
    EXPECT_EQ(env_value(s.directives, "nodes").text, "4");
    EXPECT_EQ(env_value(s.directives, "gres").text, "gpu:8");
    EXPECT_EQ(env_value(s.env, "B").text, "two words");
    EXPECT_EQ(env_value(s.env, "D").text, "4");
    EXPECT_EQ(env_value(s.variables, "C").text, "3");
    ASSERT_EQ(s.commands.size(), 3U);
    EXPECT_EQ(s.commands[0].program(), "srun");
    EXPECT_EQ(option(s.commands[0].words, "rdzv-endpoint").text, "$H:1");
    EXPECT_EQ(option(s.commands[0].words, "nnodes").where.line, 7);
    EXPECT_EQ(s.commands[2].words[1].text, "done");
}

}  // namespace
}  // namespace trainyard::lint
