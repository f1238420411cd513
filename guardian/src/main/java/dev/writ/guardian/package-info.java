/** Admission, the pure function that judges, and the accounts of budgets, rates and nonces. */
package dev.writ.guardian;
