#include "iam.hpp"

#include <gtest/gtest.h>

#include "test_recipe.hpp"

namespace trainyard::render {
namespace {

using doc::Node;

Addresses places(std::string prefix) {
    return {{"bucket", std::move(prefix)},
            {"data", "set"},
            {"bucket", "code/a"},
            {"bucket", "output/a"}};
}

const Node* statement(const Node& policy, std::string_view sid) {
    for (const Node& s : policy.find("Statement")->items()) {
        if (s.find("Sid")->text() == sid) return &s;
    }
    return nullptr;
}

TEST(IamLiteral, WildcardsAndVariablesStayCharacters) {
    EXPECT_EQ(iam_literal("a*b?c${aws:username}"), "a${*}b${?}c${$}{aws:username}");
    EXPECT_EQ(iam_literal("plain/prefix-1"), "plain/prefix-1");
}

TEST(Iam, APrefixOfWildcardsGrantsNoMoreThanItself) {
    const Recipe r = test_recipe("p5.48xlarge", 2, Purchase::on_demand);
    const Node p = run_policy(r, Target::ec2_fleet, places("*"));
    const Node* s = statement(p, "Checkpoints");
    ASSERT_NE(s, nullptr);
    ASSERT_EQ(s->find("Resource")->items().size(), 1U);
    EXPECT_EQ(s->find("Resource")->items()[0].text(), "arn:aws:s3:::bucket/${*}/*");
}

TEST(Iam, NoActionIsAWildcardAndWritesAreOnlyBelowTheRun) {
    for (const Target t : {Target::sagemaker, Target::ec2_fleet}) {
        Recipe r = test_recipe("p5.48xlarge", 2, Purchase::on_demand);
        r.data_place = DataPlace::lustre;
        r.lustre = 2 * kTiB;
        for (const Node& p :
             {run_policy(r, t, places("ck/a")), read_only_policy(r, t, places("ck/a"))}) {
            for (const Node& s : p.find("Statement")->items()) {
                for (const Node& a : s.find("Action")->items()) {
                    EXPECT_EQ(a.text().find('*'), std::string::npos) << a.text();
                    if (a.text() != "s3:PutObject" && a.text() != "s3:DeleteObject") continue;
                    for (const Node& where : s.find("Resource")->items()) {
                        const bool own = where.text() == "arn:aws:s3:::bucket/ck/a/*" ||
                                         where.text() == "arn:aws:s3:::bucket/output/a/*";
                        EXPECT_TRUE(own) << where.text();
                    }
                }
            }
        }
    }
}

TEST(Iam, WhoOnlyWatchesChangesNothing) {
    const Recipe r = test_recipe("p5.48xlarge", 2, Purchase::on_demand);
    for (const Target t : {Target::sagemaker, Target::ec2_fleet}) {
        const Node p = read_only_policy(r, t, places("ck/a"));
        for (const Node& s : p.find("Statement")->items()) {
            for (const Node& a : s.find("Action")->items()) {
                const std::string verb = a.text().substr(a.text().find(':') + 1);
                const bool reads = verb.starts_with("Describe") || verb.starts_with("Get") ||
                                   verb.starts_with("List") || verb.starts_with("Filter");
                EXPECT_TRUE(reads) << a.text();
            }
        }
    }
}

TEST(Iam, SageMakerMayTouchTheVpcOnlyForLustre) {
    Recipe r = test_recipe("p5.48xlarge", 2, Purchase::on_demand);
    EXPECT_EQ(statement(run_policy(r, Target::sagemaker, places("c")), "InterfacesInTheVpc"),
              nullptr);
    r.data_place = DataPlace::lustre;
    EXPECT_NE(statement(run_policy(r, Target::sagemaker, places("c")), "InterfacesInTheVpc"),
              nullptr);
}

TEST(Iam, WhoTakesOnTheRole) {
    const Recipe r = test_recipe("p5.48xlarge", 2, Purchase::on_demand);
    const auto trusted = [&r](Target t) {
        Directory d;
        add_iam(d, r, t, places("c"), "run");
        return d.find("iam/iam.create-role.json")->content;
    };
    EXPECT_NE(trusted(Target::sagemaker).find("sagemaker.amazonaws.com"), std::string::npos);
    EXPECT_NE(trusted(Target::ec2_fleet).find("ec2.amazonaws.com"), std::string::npos);
    EXPECT_NE(trusted(Target::eks).find("pods.eks.amazonaws.com"), std::string::npos);
    EXPECT_NE(trusted(Target::eks).find("sts:TagSession"), std::string::npos);
    EXPECT_EQ(statement(run_policy(r, Target::eks, places("c")), "FindTheOtherNodes"), nullptr);
}

TEST(Iam, OnlyWhatATargetDoesIsAllowed) {
    const Recipe r = test_recipe("p5.48xlarge", 2, Purchase::on_demand);
    for (const TargetInfo& t : targets()) {
        const Node p = run_policy(r, t.target, places("c"));
        const bool sagemaker = t.target == Target::sagemaker;
        // Elsewhere a node's or the cluster's own role pulls images, if there are any.
        EXPECT_EQ(statement(p, "EcrPull") != nullptr, sagemaker) << t.name;
        EXPECT_EQ(statement(p, "Output") != nullptr, sagemaker) << t.name;
        EXPECT_EQ(statement(p, "ListCode") != nullptr, takes_code(t.target, r)) << t.name;
    }
    const Node own = run_policy(r, Target::sagemaker, places("c"));
    for (const Node& where : statement(own, "EcrPull")->find("Resource")->items())
        EXPECT_FALSE(where.text().ends_with("repository/*")) << where.text();
}

TEST(Iam, PartitionsOfChinaAndGovCloud) {
    EXPECT_EQ(partition("cn-north-1"), "aws-cn");
    EXPECT_EQ(partition("us-gov-west-1"), "aws-us-gov");
    EXPECT_EQ(partition("eu-central-1"), "aws");
}

TEST(Iam, RoleNamesFit) { EXPECT_EQ(run_role_name(std::string(80, 'x')).size(), 64U); }

}  // namespace
}  // namespace trainyard::render
