package dev.writ.guardian.policy.limit;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.policy.rule.Match;
import dev.writ.guardian.yaml.Section;
import java.time.DayOfWeek;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/**
 * Hours in which effects are allowed. If several entries apply, one of them is enough.
 *
 * @param fromMinute minute of the day, inclusive
 * @param toMinute minute of the day, exclusive; 1440 is midnight
 * @param offset from UTC: fixed, because the rules of time zones change
 */
public record Hours(
    Match match, List<DayOfWeek> days, int fromMinute, int toMinute, ZoneOffset offset) {

  public static Hours read(Section section) {
    List<DayOfWeek> days =
        section
            .list("days", item -> item.itemOf(List.of(DayOfWeek.values()), Hours::dayText))
            .stream()
            .distinct()
            .sorted()
            .toList();
    int from = section.minuteOfDay("from");
    int to = section.minuteOfDay("to");
    section.require("days", !days.isEmpty(), "empty");
    section.require("to", from < to, "not after from; write two entries for a night");
    Hours hours =
        new Hours(
            section
                .optional("match", key -> Match.read(section.section(key)))
                .orElseGet(Match::everything),
            days,
            from,
            to,
            section.offset("offset"));
    section.end();
    return hours;
  }

  private static String dayText(DayOfWeek day) {
    return day.name().substring(0, 3).toLowerCase(Locale.ROOT);
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("match", match.toJson())
        .putList("days", days, day -> JsonValue.of(dayText(day)))
        .put("from", minuteText(fromMinute))
        .put("to", minuteText(toMinute))
        .put("offset", offset.equals(ZoneOffset.UTC) ? "+00:00" : offset.getId())
        .build();
  }

  private static String minuteText(int minute) {
    return String.format(Locale.ROOT, "%02d:%02d", minute / 60, minute % 60);
  }

  public boolean holds(Instant time) {
    OffsetDateTime there = time.atOffset(offset);
    int minute = there.getHour() * 60 + there.getMinute();
    return days.contains(there.getDayOfWeek()) && fromMinute <= minute && minute < toMinute;
  }

  /** The next beginning of such hours after a time. */
  public Instant nextFrom(Instant time) {
    LocalDate today = time.atOffset(offset).toLocalDate();
    return IntStream.rangeClosed(0, 7)
        .mapToObj(today::plusDays)
        .filter(day -> days.contains(day.getDayOfWeek()))
        .map(day -> day.atStartOfDay().plusMinutes(fromMinute).toInstant(offset))
        .filter(time::isBefore)
        .findFirst()
        .orElseThrow(); // there is a day at least, and it comes again within a week
  }

  @Override
  public String toString() {
    return days.stream().map(Hours::dayText).toList()
        + " "
        + minuteText(fromMinute)
        + "-"
        + minuteText(toMinute)
        + " "
        + offset;
  }
}
