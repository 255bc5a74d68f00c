from freqdyna import Config
from freqdyna.envs.resolve import resolved_by_name
from freqdyna.training.run_messages import announcement


def test_a_run_says_what_is_trained():
    config = resolved_by_name(Config(env="CartPole-v1", seeds=1, episode_limit=9))
    text = announcement(config, {"devices": 1, "device_kind": "cpu"}, step=0)
    assert text.startswith("er on CartPole-v1 (9 steps): 1 seed × 50,000 steps, 10 planning")
