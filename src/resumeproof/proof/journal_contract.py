"""What every journal must do, as mixins of tests that need no test framework.

A subclass gives `journal`, open for writing on an empty journal before each test, and `reopen`;
pytest and unittest find the tests in it by their names.

    class TestMyJournal(JournalContract):
        @pytest.fixture(autouse=True)
        def _opened(self, tmp_path):
            self.journal = MyJournal.create(tmp_path / "journal")
            yield
            self.journal.close()

        def reopen(self):
            self.journal.close()
            return MyJournal.open(self.journal.path)

A journal whose transaction is one commit, such as a database's, takes `AtomicJournalContract`; one
that appends a record before it saves the state takes `JournalContract`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from resumeproof.domain.inspection import inspect
from resumeproof.domain.status import Status
from resumeproof.errors import Conflict, ResumeproofError, WorkflowExists, WorkflowNotFound
from resumeproof.proof.told import (
    Told,
    approved,
    cancelled,
    claimed,
    created,
    replaced,
    write,
    write_all,
)
from resumeproof.stores.protocols import Journal


def expect(found: object, told: object) -> None:
    """Raise `AssertionError` where the two differ; no option of Python's turns it off."""
    if found != told:
        raise AssertionError(f"{found!r} is found, and not {told!r}")


def refusal(call: Callable[[], object]) -> ResumeproofError:
    """The error that `call` raises."""
    try:
        call()
    except ResumeproofError as error:
        return error
    raise AssertionError("it was not refused")


class Interrupted(Exception):
    """What ends a transaction before its time."""


class JournalContract:
    """The contract of `resumeproof.stores.protocols.Journal`."""

    journal: Journal

    def reopen(self) -> Journal:
        """Close `journal` and open it anew."""
        raise NotImplementedError

    # -- what is committed is there, byte for byte --------------------------------------------

    def test_a_new_workflow_is_given_back_as_it_was_saved(self) -> None:
        told = write(self.journal, None, created("w"))
        expect(self.journal.load("w"), told.stored)

    def test_a_workflow_without_a_key_is_given_back_without_one(self) -> None:
        told = write(self.journal, None, created("w", key=None))
        expect(self.journal.load("w"), told.stored)

    def test_each_commit_adds_its_record_and_replaces_the_row(self) -> None:
        new = write(self.journal, None, created("w"))
        twice = write(self.journal, new, replaced(new, 9900))
        thrice = write(self.journal, twice, approved(twice))
        expect(self.journal.load("w"), thrice.stored)

    def test_one_commit_can_hold_many_records(self) -> None:
        new = write(self.journal, None, created("w"))
        cleared = cancelled(replaced(approved(new), 9900))
        write(self.journal, new, cleared)
        expect(self.journal.load("w"), cleared.stored)

    def test_what_was_committed_outlives_the_handle(self) -> None:
        told = write(self.journal, None, approved(created("w")))
        self.journal = self.reopen()
        expect(self.journal.load("w"), told.stored)

    def test_workflows_do_not_mix(self) -> None:
        one, other = (write(self.journal, None, created(name)) for name in ("w", "w2"))
        write(self.journal, one, approved(one))
        expect(self.journal.load("w2"), other.stored)

    # -- inside a transaction -----------------------------------------------------------------

    def test_a_transaction_loads_the_row_without_records(self) -> None:
        told = write(self.journal, None, created("w"))
        with self.journal.transaction() as transaction:
            expect(transaction.load("w"), told.row)

    def test_a_transaction_sees_its_own_save(self) -> None:
        new = write(self.journal, None, created("w"))
        then = approved(new)
        with self.journal.transaction() as transaction:
            transaction.append(then.records[-1])
            transaction.save(then.workflow, then.action.canonical, expected_revision=1)
            expect(transaction.load("w"), then.row)

    def test_a_workflow_that_was_never_saved_is_not_there(self) -> None:
        self._left_unsaved(created("w"))
        error = refusal(lambda: self.journal.load("w"))
        expect((type(error), list(self.journal.rows())), (WorkflowNotFound, []))

    def test_a_save_that_is_missing_leaves_the_row_as_it_was(self) -> None:
        new = write(self.journal, None, created("w"))
        self._left_unsaved(approved(new))
        with self.journal.transaction() as transaction:
            row = transaction.load("w")
        expect((row.row, list(self.journal.rows())), (new.row.row, [new.row]))

    def test_a_record_whose_save_is_missing_is_undone_or_told_to_be_finished(self) -> None:
        new = write(self.journal, None, created("w"))
        self._left_unsaved(approved(new))
        self.journal = self.reopen()
        found = self.journal.load("w")
        ahead = replace(new.stored, records=approved(new).records, save_missing=True)
        expect(found, ahead if found.save_missing else new.stored)
        expect(inspect(found).damage, None)

    def test_a_record_whose_save_is_missing_can_be_finished(self) -> None:
        new = write(self.journal, None, created("w"))
        self._left_unsaved(approved(new))
        self.journal = self.reopen()
        then = approved(new)
        missing = then.records[len(self.journal.load("w").records) :]
        with self.journal.transaction() as transaction:
            for record in missing:
                transaction.append(record)
            transaction.save(then.workflow, then.action.canonical, expected_revision=1)
        expect(self.journal.load("w"), then.stored)

    def test_a_claim_whose_save_is_missing_never_was(self) -> None:
        ready = write(self.journal, None, approved(created("w")))
        self._left_unsaved(claimed(ready))
        self.journal = self.reopen()
        found = self.journal.load("w")
        then = write(self.journal, ready, claimed(ready))
        expect(
            (replace(found, uncommitted=None), self.journal.load("w")), (ready.stored, then.stored)
        )

    def test_an_action_whose_save_is_missing_never_was(self) -> None:
        new = write(self.journal, None, created("w"))
        self._left_unsaved(approved(replaced(new, 9900)), after=new)
        found = self.journal.load("w")
        then = write(self.journal, new, replaced(new, 1200))
        expect(
            (replace(found, uncommitted=None), self.journal.load("w")), (new.stored, then.stored)
        )

    def _left_unsaved(self, told: Told, *, after: Told | None = None) -> None:
        """Append what `told` has more than `after` (its last record, if not given), and stop."""
        stored = len(after.records) if after else len(told.records) - 1
        try:
            with self.journal.transaction() as transaction:
                for record in told.records[stored:]:
                    transaction.append(record)
                raise Interrupted
        except Interrupted:
            pass

    def test_after_an_undone_transaction_the_next_one_commits(self) -> None:
        try:
            with self.journal.transaction() as transaction:
                transaction.append(created("w").records[0])
                raise Interrupted
        except Interrupted:
            pass
        told = write(self.journal, None, created("w"))
        expect(self.journal.load("w"), told.stored)

    def test_a_transaction_that_has_ended_writes_nothing(self) -> None:
        new = write(self.journal, None, created("w"))
        with self.journal.transaction() as transaction:
            pass
        try:
            transaction.append(approved(new).records[-1])
        except ValueError:
            pass
        else:
            raise AssertionError("it was not refused")
        expect(self.journal.load("w"), new.stored)

    # -- compare-and-swap ---------------------------------------------------------------------

    def test_of_two_decisions_on_one_state_the_first_stands(self) -> None:
        new = write(self.journal, None, created("w"))
        first = write(self.journal, new, approved(new))
        error = refusal(lambda: write(self.journal, new, cancelled(new)))
        expect(
            (type(error), error.facts, self.journal.load("w")),
            (
                Conflict,
                {"workflow_id": "w", "expected": 1, "found": 2},
                first.stored,
            ),
        )

    def test_a_status_that_is_the_same_again_is_not_the_same(self) -> None:
        once = write(self.journal, None, approved(created("w")))
        again = write(self.journal, once, approved(replaced(once, 9900)))
        error = refusal(lambda: write(self.journal, once, cancelled(once)))
        expect(
            (type(error), error.facts, self.journal.load("w")),
            (
                Conflict,
                {"workflow_id": "w", "expected": 2, "found": 4},
                again.stored,
            ),
        )

    def test_a_save_alone_is_held_against_the_stored_revision(self) -> None:
        new = write(self.journal, None, created("w"))
        first = write(self.journal, new, approved(new))

        def save() -> None:
            with self.journal.transaction() as transaction:
                late = cancelled(new)
                transaction.save(late.workflow, late.action.canonical, expected_revision=1)

        error = refusal(save)
        expect(
            (type(error), error.facts, self.journal.load("w")),
            (
                Conflict,
                {"workflow_id": "w", "expected": 1, "found": 2},
                first.stored,
            ),
        )

    def test_a_workflow_that_exists_is_not_created_again(self) -> None:
        told = write(self.journal, None, approved(created("w")))
        error = refusal(lambda: write(self.journal, None, created("w", key="other")))
        expect(
            (type(error), error.facts, self.journal.load("w")),
            (
                WorkflowExists,
                {"workflow_id": "w"},
                told.stored,
            ),
        )

    def test_a_save_alone_does_not_create_a_workflow_again(self) -> None:
        told = write(self.journal, None, created("w"))

        def save() -> None:
            with self.journal.transaction() as transaction:
                other = created("w", key="other")
                transaction.save(other.workflow, other.action.canonical, expected_revision=0)

        error = refusal(save)
        expect((type(error), self.journal.load("w")), (WorkflowExists, told.stored))

    # -- what is not there --------------------------------------------------------------------

    def test_a_workflow_that_is_not_there_is_named_with_the_journal(self) -> None:
        error = refusal(lambda: self.journal.load("w"))
        expect(
            (type(error), error.facts),
            (
                WorkflowNotFound,
                {"workflow_id": "w", "path": str(self.journal.path)},
            ),
        )

    def test_a_transaction_names_what_is_not_there(self) -> None:
        def load() -> None:
            with self.journal.transaction() as transaction:
                transaction.load("w")

        error = refusal(load)
        expect(
            (type(error), error.facts),
            (
                WorkflowNotFound,
                {"workflow_id": "w", "path": str(self.journal.path)},
            ),
        )

    def test_what_is_no_text_is_no_workflow(self) -> None:
        expect(type(refusal(lambda: self.journal.load("\udcff"))), WorkflowNotFound)

    # -- rows ---------------------------------------------------------------------------------

    def test_rows_come_in_order_of_creation_and_without_records(self) -> None:
        told = {name: write(self.journal, None, created(name)) for name in ("m", "z", "a")}
        told["m"] = write(self.journal, told["m"], approved(told["m"]))
        expect(list(self.journal.rows()), [told[name].row for name in ("m", "z", "a")])

    def test_rows_of_a_status_are_those_and_no_others(self) -> None:
        told = {name: write(self.journal, None, created(name)) for name in ("m", "z", "a", "b")}
        for name in ("a", "m"):
            told[name] = write(self.journal, told[name], approved(told[name]))
        found = {status: list(self.journal.rows(status)) for status in Status}
        expect(
            found,
            {status: [] for status in Status}
            | {
                Status.APPROVED: [told["m"].row, told["a"].row],
                Status.PENDING_APPROVAL: [told["z"].row, told["b"].row],
            },
        )

    def test_workflows_that_are_changed_while_they_are_listed_are_each_met_once(self) -> None:
        told = [created(f"w{number * 7919 % 251:03d}") for number in range(251)]
        write_all(self.journal, [(None, new) for new in told])
        met = []
        for new, row in zip(told, self.journal.rows(Status.PENDING_APPROVAL), strict=True):
            met.append(row)
            write(self.journal, new, approved(new))
        expect(met, [new.row for new in told])


class AtomicJournalContract(JournalContract):
    """Besides, what a journal must do whose transaction is one commit: undo its saves as well."""

    def test_an_exception_undoes_a_new_workflow(self) -> None:
        told = created("w")
        try:
            with self.journal.transaction() as transaction:
                transaction.append(told.records[0])
                transaction.save(told.workflow, told.action.canonical, expected_revision=0)
                raise Interrupted
        except Interrupted:
            pass
        error = refusal(lambda: self.journal.load("w"))
        expect((type(error), list(self.journal.rows())), (WorkflowNotFound, []))

    def test_an_exception_undoes_a_change(self) -> None:
        new = write(self.journal, None, created("w"))
        then = approved(new)
        try:
            with self.journal.transaction() as transaction:
                transaction.append(then.records[-1])
                transaction.save(then.workflow, then.action.canonical, expected_revision=1)
                raise Interrupted
        except Interrupted:
            pass
        expect(self.journal.load("w"), new.stored)
