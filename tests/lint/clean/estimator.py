"""What functions return is not known: present, never missing."""
import settings
from sagemaker.pytorch import PyTorch

try:
    role = sagemaker.get_execution_role()
except ValueError:
    role = iam.get_role(RoleName="training")["Role"]["Arn"]

estimator = PyTorch(
    entry_point="train.py",
    role=role,
    framework_version=settings.version(),
    py_version=settings.python(),
    instance_count=int(settings.get("nodes")),
    instance_type=settings.get("type"),
    use_spot_instances=settings.get("spot"),
    max_run=int(settings.get("run")),
    max_wait=settings.get("wait") + 3600,
    checkpoint_s3_uri=os.path.join(bucket, "checkpoints"),
    distribution=settings.distribution(),
    input_mode=settings.mode(),
)
estimator.fit(settings.channels())
