resource "aws_placement_group" "far" {
  strategy = "spread"
}
module "eks" {
  source = "terraform-aws-modules/eks/aws"
  eks_managed_node_groups = {
    gpu = {
      instance_types     = ["p4d.24xlarge"]
      enable_efa_support = true
      placement          = { group_name = aws_placement_group.far.name }
    }
  }
}
