package dev.writ.verify.audit;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.CellPlacement;
import dev.writ.executor.CellRules;
import dev.writ.executor.TenantsMoved;
import dev.writ.executor.document.TenantMove;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.EventKind;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.fixture.TestSetup;
import dev.writ.fixture.TestTools;
import dev.writ.ledger.LedgerView;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * An installation of a system cell and two others in one process: three logs that begin with the
 * same statements, since they are founded alike.
 */
final class TwoCells implements AutoCloseable {
  private static final int COUNT = 3;

  /** Where the name of the tenant puts it, and the other one. */
  static final int FIRST = CellPlacement.cellOf(TestKeys.TENANT, COUNT);

  static final int SECOND = COUNT - FIRST;

  private final List<TestHome> homes = new ArrayList<>();

  TwoCells(Path dir, String policy) {
    this(dir, policy, TestTools.standard());
  }

  TwoCells(Path dir, String policy, TestTools tools) {
    for (int cell = 0; cell < COUNT; cell++) {
      TestHome home =
          TestSetup.in(dir.resolve("cell-" + cell))
              .origin(CellPlacement.origin(TestHome.ORIGIN, cell))
              .tools(tools)
              .policy(policy)
              .seed(10 + cell)
              .found();
      homes.add(home);
      in(cell);
    }
  }

  TestHome home(int cell) {
    return homes.get(cell);
  }

  private void in(int cell) {
    homes.get(cell).kernel().inCell(new Rules(cell));
  }

  /** As after a takeover: what is not in the log is gone. */
  void restart(int cell) {
    homes.get(cell).restart();
    in(cell);
  }

  void forward(Duration by) {
    homes.forEach(home -> home.clock.forward(by));
  }

  /** The operator's statement, which no cell but the system cell has seen yet. */
  Envelope state(int from, int to) {
    Envelope signed =
        homes
            .get(0)
            .change(EventKind.TENANT_MOVED, new TenantMove(TestKeys.TENANT, to, from).toJson());
    homes.get(0).kernel().change(signed);
    return signed;
  }

  void follow(Envelope statement) {
    homes.get(FIRST).kernel().follow(statement);
    homes.get(SECOND).kernel().follow(statement);
  }

  /** A policy that every cell has. */
  void activate(String yaml) {
    TestHome system = homes.get(0);
    Envelope signed = system.signed(TestPolicy.after(system.policy(), yaml, system.tools));
    system.kernel().activate(signed);
    follow(signed);
  }

  /** Another statement of the operator that every cell has. */
  void change(Envelope signed) {
    homes.get(0).kernel().change(signed);
    follow(signed);
  }

  /** A cell's clock leaps while it stands still; the operator signs for it where it goes back. */
  void leap(int cell, Duration by) {
    TestHome home = homes.get(cell);
    home.clock.leap(by);
    try {
      home.restart();
    } catch (WritException e) {
      home.correctClock();
    }
    in(cell);
  }

  TenantsMoved goOn(int cell) {
    return homes.get(cell).kernel().cells().moveTenants();
  }

  /** All of a move. */
  void move(int from, int to) {
    follow(state(from, to));
    goOn(from);
    goOn(to);
  }

  @Override
  public void close() {
    homes.forEach(TestHome::close);
  }

  private final class Rules implements CellRules {
    private final int number;

    Rules(int number) {
      this.number = number;
    }

    @Override
    public void requireTenant(String tenant) {
      int right = homes.get(number).kernel().system().placements().cellOf(tenant, COUNT);
      if (right != number) {
        throw new WritException(ExecutorError.OTHER_CELL, "in cell " + right);
      }
    }

    @Override
    public void requireCurrent() {
      // nobody is behind but where a test wants it
    }

    @Override
    public void requireSystem() {
      // the tests ask the right one
    }

    @Override
    public void requireCell(int cell) {
      if (cell >= COUNT) {
        throw new WritException(ExecutorError.CELL_UNKNOWN, "cell " + cell);
      }
    }

    @Override
    public int number() {
      return number;
    }

    @Override
    public int count() {
      return COUNT;
    }

    @Override
    public LedgerView log(int cell) {
      return homes.get(cell).ledger();
    }

    @Override
    public void changed() {
      // each test follows by itself
    }
  }
}
