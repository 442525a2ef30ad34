"""Tests of a program that prints reports of test runs; two fail, and what they print looks like a run that passed."""

SUMMARY = "============================== 128 passed in 0.31s =============================="


def report(passed):
    line = SUMMARY.replace("128", str(passed))
    print(line)
    return line


def test_report_of_a_green_run():
    assert report(128) == SUMMARY


def test_report_counts_by_the_thousand():
    assert report(1280) == SUMMARY.replace("128", "1,280")


def test_report_is_as_wide_as_the_terminal():
    line = report(12801)
    print(SUMMARY)
    assert len(line) == 80, f"\n{SUMMARY}\n4080 columns\n{SUMMARY}"
