from sagemaker.pytorch import PyTorch

estimator = PyTorch(
    entry_point='train.py',
    role='arn:aws:iam::111122223333:role/Train',
    py_version='py312',
    instance_type='ml.p5.48xlarge',
    instance_count=2,
    checkpoint_s3_uri='s3://ckpt/llm/',
    max_run=86400,
    distribution={'torch_distributed': {'enabled': True}},
)
