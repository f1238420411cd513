/**
 * The policy in force, its history, and what another text would be and would have said
 * (spec/policy-desk.md). Nothing here puts a policy in force: its owner signs it.
 */
package dev.writ.console.policy;
