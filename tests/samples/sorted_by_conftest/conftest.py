def pytest_collection_modifyitems(config, items):
    left_out = [item for item in items if "left_out" in item.name]
    items[:] = sorted((item for item in items if item not in left_out), key=lambda item: item.name)
    config.hook.pytest_deselected(items=left_out)
