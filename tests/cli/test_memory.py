from beamlearn.cli.jobs.memory import free_memory


def test_the_least_of_what_the_system_and_a_container_leave(tmp_path):
    system, group = tmp_path / "meminfo", tmp_path / "group"
    assert free_memory(system, group) is None
    system.write_text("MemTotal:  100 kB\nMemAvailable:   50 kB\n")
    assert free_memory(system, group) == 50 * 1024
    group.mkdir()
    (group / "memory.max").write_text("max\n")
    (group / "memory.current").write_text("1000\n")
    assert free_memory(system, group) == 50 * 1024
    (group / "memory.max").write_text("3000\n")
    assert free_memory(system, group) == 2000
    (group / "memory.current").write_text("4000\n")
    assert free_memory(system, group) == 0
