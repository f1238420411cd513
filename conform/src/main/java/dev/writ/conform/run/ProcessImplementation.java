package dev.writ.conform.run;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.conform.ConformError;
import dev.writ.conform.adapter.Adapter;
import dev.writ.conform.adapter.AdapterAnswer;
import dev.writ.conform.adapter.AdapterLines;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A process that speaks the adapter protocol. One that hangs, dies or answers nonsense is ended and
 * started again for the next question; one that keeps dying is given up.
 */
public final class ProcessImplementation implements Implementation {
  /** Deaths in a row after which it is not started again. */
  private static final int DEATHS_MAX = 5;

  private static final int STDERR_BYTES_MAX = 2_000;

  private final String name;
  private final List<String> command;
  private final Duration timeout;
  private Running running;
  private long asked;
  private int deaths;

  /** One life of the process. */
  private static final class Running {
    final Process process;
    final BlockingQueue<AdapterLines.Line> lines = new ArrayBlockingQueue<>(64);
    final StringBuffer stderr = new StringBuffer();
    static final AdapterLines.Line END = new AdapterLines.Line(new byte[0], false);

    Running(Process process) {
      this.process = process;
      Thread.ofPlatform().daemon().name("conform-out").start(this::readAnswers);
      Thread.ofPlatform().daemon().name("conform-err").start(this::readErrors);
    }

    private void readAnswers() {
      try {
        AdapterLines in = new AdapterLines(process.getInputStream(), Adapter.LIMITS.bytesMax());
        for (AdapterLines.Line line = in.next(); line != null; line = in.next()) {
          lines.put(line);
        }
        lines.put(END);
      } catch (IOException | InterruptedException e) {
        boolean _ = lines.offer(END); // the process was ended
      }
    }

    private void readErrors() {
      byte[] buffer = new byte[4096];
      try (InputStream in = process.getErrorStream()) {
        for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
          if (stderr.length() < STDERR_BYTES_MAX) {
            stderr.append(new String(buffer, 0, n, StandardCharsets.UTF_8));
          }
        }
      } catch (IOException e) {
        // the process was ended
      }
    }

    /** The end of its stderr, for the report. */
    String complaint() {
      String text = stderr.toString().strip();
      return text.isEmpty() ? "" : "; it says: " + text.substring(Math.max(0, text.length() - 400));
    }
  }

  /**
   * @param timeout for one operation
   * @throws WritException {@code CNF-010} where it cannot be started at all
   */
  public ProcessImplementation(String command, Duration timeout) {
    this.name = command;
    this.command = AdapterCommand.split(command);
    this.timeout = timeout;
    this.running = start();
  }

  private Running start() {
    try {
      return new Running(new ProcessBuilder(command).start());
    } catch (IOException e) {
      throw new WritException(ConformError.COMMAND, command.getFirst(), e);
    }
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public AdapterAnswer ask(String op, JsonValue.Obj input) {
    if (deaths >= DEATHS_MAX) {
      throw new Broken("not asked: the process broke " + deaths + " times in a row");
    }
    if (running == null) {
      running = start();
    }
    Question question = new Question(String.valueOf(++asked), op, input);
    try {
      AdapterAnswer answer = question.answer(exchange(question));
      deaths = 0;
      return answer;
    } catch (Broken e) {
      deaths++;
      stop();
      throw e;
    }
  }

  private byte[] exchange(Question question) {
    // Written by another thread: a process that does not read must not block this one.
    Running now = running;
    Thread writer =
        Thread.ofPlatform()
            .daemon()
            .name("conform-in")
            .start(() -> {
              try {
                now.process.getOutputStream().write(question.endedLine());
                now.process.getOutputStream().flush();
              } catch (IOException e) {
                // it no longer reads; its answer, or the lack of one, is the result
              }
            });
    try {
      AdapterLines.Line line = now.lines.poll(timeout.toMillis(), TimeUnit.MILLISECONDS);
      if (line == null) {
        throw new Broken("no answer within " + timeout.toSeconds() + " s");
      }
      if (line == Running.END) {
        boolean ended = now.process.waitFor(1, TimeUnit.SECONDS);
        throw new Broken(
            "the process ended"
                + (ended ? " with status " + now.process.exitValue() : "")
                + now.complaint());
      }
      if (line.tooLong()) {
        throw new Broken("an answer of more than " + Adapter.LIMITS.bytesMax() + " bytes");
      }
      writer.join(timeout);
      return line.bytes();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new Broken("interrupted");
    }
  }

  private void stop() {
    if (running != null) {
      running.process.descendants().forEach(ProcessHandle::destroyForcibly);
      running.process.destroyForcibly();
      running = null;
    }
  }

  @Override
  public void close() {
    stop();
  }
}
