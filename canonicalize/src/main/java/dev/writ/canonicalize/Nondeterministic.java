package dev.writ.canonicalize;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Lets one constructor or method call what {@code config/deterministic.txt} bans, because what it
 * gets cannot reach a signed byte. Never on a class, so that the exemption stays small.
 */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target({ElementType.CONSTRUCTOR, ElementType.METHOD})
public @interface Nondeterministic {

  /** Why no signed byte depends on it. */
  String value();
}
