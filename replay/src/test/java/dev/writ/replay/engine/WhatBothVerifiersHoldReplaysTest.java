package dev.writ.replay.engine;

import dev.writ.fixture.TestHome;
import dev.writ.ledger.event.RunId;
import dev.writ.verify.bundle.CorrectedRun;
import dev.writ.verify.bundle.GovernedTool;
import dev.writ.verify.bundle.Sample;
import dev.writ.verify.bundle.SharedRun;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The runs that the verifiers' tests forge come out as recorded where nobody forged them. */
class WhatBothVerifiersHoldReplaysTest {
  @TempDir Path dir;

  @Test
  void a_run_over_a_correction() {
    try (TestHome home = CorrectedRun.home(dir)) {
      CorrectedRun.back(home);
      Replayed.completely(home, Sample.RUN);
    }
  }

  @Test
  void a_run_over_a_step_forward() {
    try (TestHome home = CorrectedRun.home(dir)) {
      CorrectedRun.forward(home);
      Replayed.completely(home, Sample.RUN);
    }
  }

  @Test
  void the_whole_way_of_a_tool() {
    try (GovernedTool tool = new GovernedTool(dir)) {
      tool.wholeWay();
      Replayed.completely(tool.home, Sample.RUN);
      Replayed.completely(tool.home, new RunId("other", "run-1"));
    }
  }

  /** Wherever it is replayed: which runtime that host has says nothing. */
  @Test
  void a_refused_runtime() {
    try (GovernedTool tool = new GovernedTool(dir)) {
      tool.refusedRuntime();
      Replayed.completely(tool.home, Sample.RUN);
    }
  }

  @Test
  void a_run_that_several_share() {
    try (TestHome home = SharedRun.home(dir)) {
      SharedRun.taken(home);
      Replayed.completely(home, Sample.RUN);
    }
  }

  @Test
  void a_run_that_is_shared_no_more() {
    try (TestHome home = SharedRun.home(dir)) {
      SharedRun.refused(home);
      Replayed.completely(home, Sample.RUN);
    }
  }
}
