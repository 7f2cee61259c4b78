"""``iosonde probe``: what the hardware gives."""

from iosonde.commands.about import About

ABOUT = About("Measure", 2, "network, disks, memory and CPU time of the nodes", ("probe",))
