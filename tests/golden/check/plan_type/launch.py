from sagemaker.pytorch import PyTorch

PyTorch(
    entry_point="train.py",
    role="arn:aws:iam::111122223333:role/train",
    instance_type="ml.p4de.24xlarge",
    instance_count=4,
).fit()
