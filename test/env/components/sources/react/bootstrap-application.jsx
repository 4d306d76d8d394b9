import "bootstrap/dist/css/bootstrap.css";
import { useState } from "react";
import { Alert, Button, Col, Container, FloatingLabel, Form, InputGroup, Row } from "react-bootstrap";
import { SEND, start } from "./start.jsx";

start(function Application() {
  const [validated, setValidated] = useState(false);
  const [result, setResult] = useState(null);
  async function submit(event) {
    event.preventDefault();
    setValidated(true);
    if (!event.target.checkValidity()) return;
    const answer = await fetch(SEND, { method: "POST", body: new FormData(event.target) });
    setResult(await answer.json());
  }
  if (result?.id) return <Container className="p-4"><Alert variant="success">Application {result.id} received.</Alert></Container>;
  return (
    <Container className="p-4" style={{ maxWidth: 620 }}>
      {result && <Alert variant="danger">The application is incomplete.</Alert>}
      <Form noValidate validated={validated} onSubmit={submit}>
        <FloatingLabel label="Applicant" controlId="applicant" className="mb-3"><Form.Control name="applicant" placeholder="Applicant" required /></FloatingLabel>
        <Row className="mb-3">
          <Form.Group as={Col} controlId="mail"><Form.Label>Work e-mail</Form.Label><Form.Control type="email" name="mail" required /><Form.Control.Feedback type="invalid">A valid address, please.</Form.Control.Feedback></Form.Group>
          <Form.Group as={Col} controlId="pay"><Form.Label>Expected salary</Form.Label><InputGroup><InputGroup.Text>€</InputGroup.Text><Form.Control type="number" step="100" name="pay" /></InputGroup></Form.Group>
        </Row>
        <Form.Group className="mb-3" controlId="post"><Form.Label>Position</Form.Label><Form.Select name="post"><option value="">Choose…</option><option value="37">Cook</option><option value="41">Baker</option><option value="58">Waiter</option></Form.Select></Form.Group>
        <fieldset className="mb-3"><legend className="fs-6">Shifts</legend>{["Morning", "Evening", "Night"].map((s) => <Form.Check inline key={s} type="checkbox" id={s} name="shifts" value={s[0]} label={s} />)}</fieldset>
        <Form.Group className="mb-3" controlId="cv"><Form.Label>Curriculum vitae</Form.Label><Form.Control type="file" name="cv" /></Form.Group>
        <Form.Group className="mb-3" controlId="exp"><Form.Label>Years of experience</Form.Label><Form.Range name="experience" min="0" max="30" defaultValue="0" /></Form.Group>
        <Form.Check type="switch" id="drive" name="licence" label="Driving licence" className="mb-3" />
        <Button type="submit">Apply</Button>
      </Form>
    </Container>
  );
});
