"""The GPU engine: the trees engine, whose rows a GPU counts.

`engine` says which questions go to the device and who answers the others; `codes` turns conditions into codes that fit a byte;
`leaves` turns a program's leaves into what the kernels of `counting.cu` take, and their counts back; `device` speaks to the GPU; `device_rows`
brings rows there.
"""
