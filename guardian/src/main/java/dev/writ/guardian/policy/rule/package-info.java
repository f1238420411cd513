/**
 * What an effect has to match and to hold: rules, requirements, patterns, places (spec/policy.md).
 */
package dev.writ.guardian.policy.rule;
