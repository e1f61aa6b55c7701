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

from resumeproof.domain.status import Status
from resumeproof.errors import WorkflowNotFound
from resumeproof.proof.expectation import expect, refusal
from resumeproof.proof.told import (
    approved,
    cancelled,
    created,
    replaced,
    write,
    write_all,
)
from resumeproof.proof.transaction_contract import Interrupted, TransactionContract


class JournalContract(TransactionContract):
    """The contract of `resumeproof.stores.protocols.Journal`, that of its transactions included."""

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
