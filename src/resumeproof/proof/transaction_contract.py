"""What every transaction of a journal must do; a part of `resumeproof.proof.journal_contract`."""

from __future__ import annotations

from dataclasses import replace

from resumeproof.domain.inspection import inspect
from resumeproof.errors import Conflict, WorkflowExists, WorkflowNotFound
from resumeproof.proof.expectation import expect, refusal
from resumeproof.proof.told import (
    Told,
    approved,
    cancelled,
    claimed,
    created,
    replaced,
    write,
)
from resumeproof.stores.protocols import Journal


class Interrupted(Exception):
    """What ends a transaction before its time."""


class TransactionContract:
    """The contract of `resumeproof.stores.protocols.JournalTransaction`."""

    journal: Journal

    def reopen(self) -> Journal:
        """Close `journal` and open it anew."""
        raise NotImplementedError

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
