"""Kinds of faults that users of other products reported in public: each is provoked here, or where `rows.py` says."""
