package dev.writ.tools.process;

import dev.writ.tools.process.TestReports.Coverage;
import dev.writ.tools.process.TestReports.Lines;
import dev.writ.tools.process.TestReports.Report;
import dev.writ.tools.process.TestReports.Tests;
import java.io.StringReader;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;

/**
 * Reads one XML report, which may come from a hostile program: UTF-8, no internal DTD subset, no
 * external resources, no entities but XML's own, limited in size, depth and number of elements.
 * Anything else is no report.
 */
final class ReportReader {
  private static final int BYTES_MAX = 8 << 20;
  private static final int DEPTH_MAX = 64;
  private static final int ELEMENTS_MAX = 1_000_000;

  private final XMLStreamReader xml;
  private int depth;
  private int elements;

  private ReportReader(XMLStreamReader xml) {
    this.xml = xml;
  }

  /** The content of a report; empty if it is none. */
  static Optional<Report> read(byte[] bytes) {
    if (bytes.length > BYTES_MAX) {
      return Optional.empty();
    }
    try {
      String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
      if (hasSubset(text)) {
        return Optional.empty();
      }
      XMLStreamReader xml =
          factory()
              .createXMLStreamReader(
                  new StringReader(text.startsWith("\uFEFF") ? text.substring(1) : text));
      try {
        return new ReportReader(xml).root();
      } finally {
        xml.close();
      }
    } catch (CharacterCodingException | XMLStreamException | RuntimeException e) {
      return Optional.empty(); // the parser throws unchecked exceptions for some input
    }
  }

  private static XMLInputFactory factory() {
    XMLInputFactory factory = XMLInputFactory.newDefaultFactory();
    factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
    factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
    factory.setProperty(XMLInputFactory.IS_REPLACING_ENTITY_REFERENCES, false);
    factory.setProperty(XMLInputFactory.IS_NAMESPACE_AWARE, false);
    factory.setXMLResolver((publicId, systemId, base, namespace) -> {
      throw new XMLStreamException("nothing is fetched");
    });
    return factory;
  }

  /**
   * Whether a document type has declarations of its own, such as entities. JaCoCo writes one that
   * only names an external DTD, which is never fetched.
   */
  private static boolean hasSubset(String text) {
    int at = text.indexOf("<!DOCTYPE");
    if (at < 0) {
      return false;
    }
    int end = text.indexOf('>', at);
    int subset = text.indexOf('[', at);
    return end < 0 || subset >= 0 && subset < end || text.indexOf("<!DOCTYPE", end) >= 0;
  }

  private Optional<Report> root() throws XMLStreamException {
    if (!nextElement()) {
      return Optional.empty();
    }
    Optional<? extends Report> report =
        switch (xml.getLocalName()) {
          case "testsuites" -> tests(true);
          case "testsuite" -> tests(false);
          case "coverage" -> cobertura();
          case "report" -> jacoco();
          default -> Optional.empty();
        };
    while (nextElement()) {} // read to its end: an incomplete document is no report
    return report.map(r -> r);
  }

  /** Moves to the next start of an element, and counts it. */
  private boolean nextElement() throws XMLStreamException {
    while (xml.hasNext()) {
      switch (xml.next()) {
        case XMLStreamConstants.START_ELEMENT -> {
          if (++depth > DEPTH_MAX || ++elements > ELEMENTS_MAX) {
            throw new XMLStreamException("too deep or too many elements");
          }
          return true;
        }
        case XMLStreamConstants.END_ELEMENT -> depth--;
        case XMLStreamConstants.ENTITY_REFERENCE ->
            throw new XMLStreamException("an entity that is not XML's own");
        default -> {}
      }
    }
    return false;
  }

  /**
   * Reads the suites directly below the root, or the root itself; nested suites are included in
   * their counts.
   */
  private Optional<Tests> tests(boolean inRoot) throws XMLStreamException {
    Optional<Tests> root = suite();
    if (!inRoot) {
      return root;
    }
    Tests sum = Tests.NONE;
    boolean all = true;
    boolean any = false;
    while (nextElement()) {
      if (depth == 2 && xml.getLocalName().equals("testsuite")) {
        Optional<Tests> one = suite();
        all &= one.isPresent();
        any = true;
        sum = sum.plus(one.orElse(Tests.NONE));
      }
    }
    return any && all ? Optional.of(sum) : any ? Optional.empty() : root.or(() -> none());
  }

  /** A report without suites contains no tests. */
  private static Optional<Tests> none() {
    return Optional.of(Tests.NONE);
  }

  /** The counts in the attributes of one suite; empty if they are missing. */
  private Optional<Tests> suite() {
    Optional<Long> tests = count("tests");
    return tests.map(number ->
        new Tests(
            number,
            count("failures").orElse(0L),
            count("errors").orElse(0L),
            count("skipped").or(() -> count("disabled")).orElse(0L),
            milli("time").orElse(0L)));
  }

  private Optional<Coverage> cobertura() {
    Optional<Double> rate = decimal("line-rate").map(BigDecimal::doubleValue);
    Optional<Long> covered = count("lines-covered");
    Optional<Long> valid = count("lines-valid");
    Optional<Lines> lines =
        covered.isPresent() && valid.isPresent() && covered.get() <= valid.get()
            ? Optional.of(new Lines(covered.get(), valid.get()))
            : Optional.empty();
    return rate.filter(r -> r <= 1).map(r -> new Coverage(r, lines));
  }

  /** The counters directly below the root cover all code. */
  private Optional<Coverage> jacoco() throws XMLStreamException {
    Optional<Lines> lines = Optional.empty();
    while (nextElement()) {
      if (depth == 2
          && xml.getLocalName().equals("counter")
          && "LINE".equals(xml.getAttributeValue(null, "type"))) {
        Optional<Long> missed = count("missed");
        Optional<Long> covered = count("covered");
        if (missed.isPresent() && covered.isPresent()) {
          lines = Optional.of(new Lines(covered.get(), covered.get() + missed.get()));
        }
      }
    }
    return lines.map(found -> new Coverage(found.rate(), Optional.of(found)));
  }

  private Optional<Long> count(String attribute) {
    return Optional.ofNullable(xml.getAttributeValue(null, attribute))
        .filter(text -> text.matches("[0-9]{1,12}"))
        .map(Long::valueOf);
  }

  private Optional<BigDecimal> decimal(String attribute) {
    return Optional.ofNullable(xml.getAttributeValue(null, attribute))
        .filter(text -> text.matches("[0-9]{1,9}(\\.[0-9]{1,20})?"))
        .map(BigDecimal::new);
  }

  private Optional<Long> milli(String attribute) {
    return decimal(attribute).map(seconds -> seconds.movePointRight(3).longValue());
  }
}
