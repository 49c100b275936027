# SPDX-License-Identifier: GPL-3.0-or-later
# Loads a profile by TuneD's own loader and prints it as JSON: {unit: {option: value}}. The options
# of a unit of type net are held against those that the plug-in says it knows.
# Usage: tuned_load.py ROOT PROFILES NAME (ROOT: where the package is unpacked)
import json
import sys

root, profiles, name = sys.argv[1:]
sys.path.insert(0, root + "/usr/lib/python3/dist-packages")
from tuned.profiles.factory import Factory  # noqa: E402
from tuned.profiles.loader import Loader  # noqa: E402
from tuned.profiles.locator import Locator  # noqa: E402
from tuned.profiles.merger import Merger  # noqa: E402
from tuned.profiles.variables import Variables  # noqa: E402


def words_of_net():
    import tuned.plugins.plugin_net as module

    plugin = next(c for c in vars(module).values() if hasattr(c, "_get_config_options_ring"))
    groups = {g: getattr(plugin, "_get_config_options_" + g)() for g in ("coalesce", "pause", "ring", "channels")}
    return plugin._get_config_options(), groups


loader = Loader(Locator([profiles]), Factory(), Merger(), None, Variables())
profile = loader.load([name])
units = {n: dict(u.options, type=u.type, devices=u.devices) for n, u in profile.units.items()}
for n, u in units.items():
    if u["type"] != "net":
        continue
    known, groups = words_of_net()
    for option, value in u.items():
        if option in ("type", "devices"):
            continue
        assert option in known, "%s: TuneD knows no %s" % (n, option)
        for word in value.split()[::2] if option in groups else []:
            assert word in groups[option], "%s: TuneD knows no %s %s" % (n, option, word)
print(json.dumps({n: {k: v for k, v in u.items() if k not in ("type",)} for n, u in units.items()}))
