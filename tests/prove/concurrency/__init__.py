"""R7, R12: nothing is lost between those who write at once, and nothing is waited for without end.

- stages: a service over one of the stores, asked by many threads at once
- hot: all edit one memory; numbers: all add to one space; projectors: several bring the same records to one index
- outbound: every place of the code from where something is asked of another machine, and its time-outs
- black_hole: servers that never answer; silences: what each adapter does then
"""
