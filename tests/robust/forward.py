"""The HIP backend on the library that forwards to CUDA, from the command line to the stand-in for the driver, with the real
NVRTC: one probe end to end, and that nobody takes what it measures for an AMD GPU's.

ASSAY_FORWARD_HIP and ASSAY_FAKE_CUDA are the libraries' folders."""
import ctypes
import os

import harness
from harness import LAUNCH, MEASURED, NOTHING, SHORT, expect, expect_refused, measured

LIBRARIES = os.environ["ASSAY_FORWARD_HIP"] + ":" + os.environ["ASSAY_FAKE_CUDA"]
SAYS = "HIP forwarded to CUDA: "


def env(assay, words="runs"):
    return {"LD_LIBRARY_PATH": LIBRARIES, "FAKE_CUDA": words, "XDG_CACHE_HOME": assay.path("cache")}


def need_compiler():
    for name in ("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"):
        try:
            return ctypes.CDLL(name)
        except OSError:
            pass
    raise harness.Skip("there is no NVRTC")


def test_devices_are_listed(assay):
    listed = assay.run("devices", env=env(assay))
    text = " ".join(listed.out.split())
    expect(listed.code == 0 and "hip:0" in text and SAYS in text, "by a name that says what it is", listed)


def test_one_probe(assay):
    need_compiler()
    done = assay.run("run", *LAUNCH, *SHORT, "--device", "hip:0", env=env(assay))
    cells = assay.cells()
    expect(done.code in MEASURED and len(measured(cells)) == len(cells) == 3, "every cell is measured", (done, cells))
    device = assay.export()["run"]["devices"][0]
    expect(device["name"].startswith(SAYS) and device["driver"].startswith("HIP 0.0."), "what it says of itself", device)


def test_no_device(assay):
    expect_refused(assay.run("run", *LAUNCH, *SHORT, "--device", "hip:0", env=env(assay, "none")), NOTHING, "no device")


if __name__ == "__main__":
    harness.main(globals())
