/**
 * Tells where a gold file and its page call one thing by two names. Everything else is matched by the control's
 * accessible name alone. Documented in docs/sites.md; a test keeps the two equal.
 */
export interface FormExceptions {
  /** Gold key to the page's label. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Gold key to the keys of the object that it holds, and the page's label of each. */
  readonly objects?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Page label to what the gold file calls an option, and what the page does. */
  readonly values?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** By form id. */
export const EXCEPTIONS: Readonly<Record<string, FormExceptions>> = {
  "academic-research/scholarship-application": {
    labels: { "Statement of Purpose": "Statement of Purpose (500 words max)" },
    values: { "Current Financial Aid": { "Other Scholarship": "Other Scholarships" } },
  },
  "academic-research/course-registration": { labels: { "Selected Courses": "Select Courses" } },
  "professional-business/workshop-registration": { values: { "Highest Education Level": { PhD: "Doctorate" } } },
  // ten of its rows are keyed by other names, and give the reference as an object
  "professional-business/membership-application": {
    labels: {
      name: "Full Name",
      email: "Email Address",
      phone: "Phone Number",
      date_of_birth: "Date of Birth",
      degree: "Highest Education Level",
      experience_years: "Years of Experience",
      current_position: "Job Title",
      membership_type: "Membership Level",
    },
    objects: { reference: { name: "Reference Name", contact: "Reference Email" } },
    values: { "Highest Education Level": { PhD: "Doctorate" } },
  },
  "finance-banking/account-opening": { values: { "Account Type": { "Saving Account": "Savings Account" } } },
  "legal-compliance/nda-submission": { labels: { "Party Name": "Party Name (Individual/Company)" } },
};
