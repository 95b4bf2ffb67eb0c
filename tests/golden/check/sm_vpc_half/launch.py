from sagemaker.pytorch import PyTorch

PyTorch(
    entry_point="train.py",
    instance_type="ml.p4d.24xlarge",
    instance_count=2,
    subnets=["subnet-0123456789abcdef0"],
).fit()
