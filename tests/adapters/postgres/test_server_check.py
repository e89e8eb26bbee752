"""What libpq says when it cannot connect, in words that help; the real thing is in e2e/."""

import pytest

from adapters.postgres.driver.server_check import refuse

AT = 'connection failed: connection to server at "127.0.0.1", port 5432 failed: '


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("FATAL:  sorry, too many clients already", "sorry, too many clients already"),
        ("FATAL:  the database system is starting up", "the database system is starting up"),
        (
            'FATAL:  no pg_hba.conf entry for host "10.0.0.1", user "ann", no encryption',
            'no pg_hba.conf entry for host "10.0.0.1", user "ann", no encryption',
        ),
        (
            "server does not support SSL, but SSL was required",
            "server does not support SSL, but SSL was required",
        ),
    ],
)
def test_a_server_that_answers_is_not_called_unreachable(said, fact):
    assert (
        f"database h:5432/d: the server does not let us in ({fact});"
        " correct DATABASE_URL or the server's settings"
    ) == str(refuse("database h:5432/d", AT + said))


def test_a_server_that_does_not_answer_is_to_be_started():
    said = AT + "Connection refused\n\tIs the server running on that host?"

    assert (
        "database h:5432/d: the server cannot be reached (Connection refused);"
        " start it or correct DATABASE_URL"
    ) == str(refuse("database h:5432/d", said))
