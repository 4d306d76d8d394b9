/** One form of FormFactory: its gold file and its address in app.py. The checkout does not contain this mapping. */
export interface CatalogRow {
  /** `data/data1/<gold>.json` and `data/data2/<gold>.txt`. */
  readonly gold: string;
  /** The address in app.py; without its slash, the form's id. */
  readonly path: string;
}

export const CATALOG: readonly CatalogRow[] = [
  { gold: "job_applications", path: "/academic-research/job-application" },
  { gold: "grant_applications", path: "/academic-research/grant-application" },
  // app.py also serves this template at /academic-research/student-registration
  { gold: "scholarship_applications", path: "/academic-research/scholarship-application" },
  { gold: "paper_submissions", path: "/academic-research/paper-submission" },
  { gold: "student_courses", path: "/academic-research/course-registration" },
  { gold: "startup_funding_applications", path: "/professional-business/startup-funding" },
  { gold: "real_estate_rental_applications", path: "/professional-business/rental-application" },
  { gold: "workshop_registrations", path: "/professional-business/workshop-registration" },
  { gold: "membership_application", path: "/professional-business/membership-application" },
  { gold: "Art_Exhibition_Submission_Form", path: "/arts-creative/exhibition-submission" },
  { gold: "Literary_Magazine_Submission", path: "/arts-creative/literary-submission" },
  { gold: "Conference_Speaker_Application", path: "/arts-creative/speaker-application" },
  { gold: "Bug_report", path: "/tech-software/bug-report" },
  { gold: "IT_support", path: "/tech-software/support-request" },
  { gold: "person_loan_applications", path: "/finance-banking/personal-loan" },
  { gold: "bank_account_applications", path: "/finance-banking/account-opening" },
  { gold: "financial_planning", path: "/finance-banking/financial-planning" },
  { gold: "Patient_Consent", path: "/healthcare-medical/patient-consent" },
  { gold: "Medical_study_Form", path: "/healthcare-medical/research-enrollment" },
  { gold: "Health_Insurance", path: "/healthcare-medical/insurance-claim" },
  { gold: "NDA", path: "/legal-compliance/nda-submission" },
  { gold: "Background_check", path: "/legal-compliance/background-check" },
  { gold: "Contrator_onboard", path: "/legal-compliance/contractor-onboarding" },
  { gold: "Project_Bid", path: "/construction-manufacturing/project-bid" },
  { gold: "Manufacturing_Order", path: "/construction-manufacturing/order-request" },
];

/** Returns a form's id in tasks and reports: `academic-research/job-application`. */
export const formId = (row: CatalogRow): string => row.path.slice(1);

/** Makes a form's title in prompts from its address: `Job application`. */
export function formTitle(row: CatalogRow): string {
  const words = row.path.slice(row.path.lastIndexOf("/") + 1).replaceAll("-", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Default of `site.heldout`, forms without training: five domains, every kind of control except the scripted form. */
export const HELDOUT_FORMS: readonly string[] = [
  "professional-business/rental-application",
  "arts-creative/literary-submission",
  "finance-banking/account-opening",
  "healthcare-medical/patient-consent",
  "legal-compliance/contractor-onboarding",
];
