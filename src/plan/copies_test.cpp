#include "copies.hpp"

#include "test_job.hpp"

namespace trainyard::plan {
namespace {

// Five runs keep five times three checkpoints and ship five models; the data set is shared.
TEST(Copies, EachRunKeepsAndShipsItsOwnFiles) {
    Request r = test::request(test::tiny_model(), 2e9);
    r.job.copies = 5;
    auto p = make_plan(r, test::catalog(), Assumptions::embedded());
    ASSERT_TRUE(p.has_value() && p->chosen);
    const Bill& bill = p->chosen->offer.bill;
    bool checkpoints = false;
    for (const BillItem& i : bill.items) {
        if (i.name == "checkpoints") {
            checkpoints = true;
            EXPECT_TRUE(i.detail.starts_with("15 x ")) << i.detail;
        }
        if (i.name == "data transfer") {
            EXPECT_TRUE(i.detail.starts_with("5 x ")) << i.detail;
        }
        if (i.name == "data storage") {
            EXPECT_NE(i.detail.find("one copy for all runs"), std::string::npos) << i.detail;
        }
    }
    EXPECT_TRUE(checkpoints);
}

}  // namespace
}  // namespace trainyard::plan
